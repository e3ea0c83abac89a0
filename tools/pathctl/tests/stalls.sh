# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # variables of ../test
#
# Tests of stalls --svg. Part of ../test. Time passes from step to step there (fakes.c), and
# cpu.stalls of demo is a link to what is now.

# step NAME CYCLES UNKNOWN COMPLETION D D.L2 D.MEM I: what cpu.stalls says then
step() {
	printf '%s\n' "cycles $2" "pending 1" "unknown $3" "completion cycles=$4 error=1" \
		"d cycles=$5 error=1 counted=33" "d.l2 cycles=$6 error=1 counted=33" \
		"d.mem cycles=$7 error=1 counted=33" "i cycles=$8 error=1 counted=33" \
		"fpu too_little" >"$FAKE_STEPS/$1"
}

# Half of it completed, a quarter waited for data, mostly known whose; then less is known.
some_steps() {
	rm -rf "$FAKE_STEPS"
	mkdir "$FAKE_STEPS"
	step now 500 0 500 0 0 0 0
	step 0 1500 0 1000 250 100 100 250
	step 1 2500 100 1400 500 200 200 500
}

# drawn WORD...: what gnuplot is told to draw
drawn() {
	PATH=$tmp/no-gnuplot:$PATH good "$1" stalls demo --svg "$tmp/none.svg" "${@:2}"
}

drawn_steps() {
	sed -n '/^.steps << END/,/^END/{//!p}' "$tmp/script" >"$out"
}

# steps_are DESCRIPTION LINE...: what is drawn of the steps
steps_are() {
	drawn_steps
	printf '%s\n' "${@:2}" | diff - "$out" >"$err"
	result $? "$1"
}

# It draws nothing, but keeps what it is told. And a place where there is none
make_no_gnuplot() {
	local tool
	mkdir -p "$tmp/no-gnuplot" "$tmp/few"
	printf '%s\n' '#!/bin/sh' "cat >$tmp/script" "[ ! -s $tmp/script ] || echo '<svg/>'" \
		>"$tmp/no-gnuplot/gnuplot"
	chmod +x "$tmp/no-gnuplot/gnuplot"
	for tool in timeout wc grep sed head; do
		ln -sf "$(command -v $tool)" "$tmp/few/$tool"
	done
}

test_stalls_steps() {
	some_steps
	drawn "stalls --svg until ^C"
	said "none.svg: 4 s of demo, in 2 steps" "it tells what was recorded"
	steps_are "each step has shares, from below, with what is unknown on top" \
		"0 50 60 70 75 100 100" "2 50 60 70 75 100 100" \
		"2 40 50 60 65 90 100" "4 40 50 60 65 90 100"
	some_steps
	step 2 2500 100 1400 500 200 200 500
	step 3 3500 100 2400 500 200 200 500
	drawn "stalls --svg of what is idle for a time" --delay 5 --duration 18
	steps_are "--delay is between steps, --duration ends the last, and what is idle is a gap" \
		"0 50 60 70 75 100 100" "5 50 60 70 75 100 100" \
		"5 40 50 60 65 90 100" "10 40 50 60 65 90 100" "" \
		"15 100 100 100 100 100 100" "18 100 100 100 100 100 100"
	some_steps
	step 2 1000 0 800 200 0 0 0
	step 3 3000 0 0 3000 0 0 0
	drawn "stalls --svg of what is counted anew" --duration 8
	steps_are "what was counted since is all of the step, also if only a part of it went back" \
		"0 50 60 70 75 100 100" "2 50 60 70 75 100 100" \
		"2 40 50 60 65 90 100" "4 40 50 60 65 90 100" \
		"4 80 80 80 100 100 100" "6 80 80 80 100 100 100" \
		"6 0 0 0 100 100 100" "8 0 0 0 100 100 100"
	some_steps
	step 0 1500 0 500 200 150 150 0
	drawn "stalls --svg of rounded numbers" --duration 2
	steps_are "what belongs to nothing stays white, and sources that are too many fit in" \
		"0 15 30" "2 15 30"
	some_steps
	step 0 1500 0 2000 0 0 0 500
	drawn "stalls --svg of causes that are too many" --duration 2
	steps_are "all that there is are 100 %" "0 75 100" "2 75 100"
}

# It is halved at 1024 steps, and again when it has as many of twice the length.
test_stalls_long() {
	some_steps
	awk -v dir="$FAKE_STEPS" 'BEGIN {
		for (i = 0; i <= 2500; i++) {
			file = dir "/" (i ? i - 1 : "now")
			print "cycles " i "\ncompletion cycles=" i - i % 2 " error=1" >file
			close(file)
		}
	}'
	drawn "stalls --svg for long" --duration 5000
	said "5000 s of demo, in 625 steps" "a long recording has steps of several looks"
	drawn_steps
	[ "$(wc -l <"$out")" = 1250 ] && [ "$(sort -u -k 2 "$out" | wc -l)" = 1 ]
	result $? "which are as long, and nothing is lost"
	grep -q "^set xrange \[0:83.3" "$tmp/script" &&
		grep -q "^set xlabel 'minutes'" "$tmp/script"
	result $? "it has a unit that fits"
}

test_stalls_picture() {
	local file=$tmp/stalls.svg name
	some_steps
	good "stalls --svg" stalls demo --svg "$file"
	svg "$file" "stalls --svg"
	for name in completion d.mem d.l2 "d (rest)" i unknown "demo: where the cycles went"; do
		grep -q ">$name<" "$file"
		result $? "the picture has the words $name"
	done
	! grep -q ">fpu<" "$file"
	result $? "but not what there is nothing of"
	some_steps
	good "stalls --svg -" stalls demo --svg -
	cmp -s "$out" "$file"
	result $? "the same numbers are the same picture"
	ln -sf linked.svg "$tmp/link.svg"
	some_steps
	good "stalls --svg to a link" stalls demo --svg "$tmp/link.svg"
	[ -L "$tmp/link.svg" ] && cmp -s "$tmp/linked.svg" "$file"
	result $? "stalls --svg writes through a link"
	some_steps
	bad 74 "full: No space left on device" "stalls --svg to a full device" \
		stalls demo --svg "$tmp/full"
}

# Not what XML means something by, nor what it may not hold; and not wider than the picture
test_stalls_names() {
	local long name
	long=$(printf 'x%.0s' {1..90})$(printf '\303\244%.0s' {1..40})x
	for name in "$nasty" "$no_xml" "$long"; do
		mkdir -p "$PATHCTL_CGROUP/$name"
		some_steps
		ln -sf "$FAKE_STEPS/now" "$PATHCTL_CGROUP/$name/cpu.stalls"
		good "stalls --svg of $(printf %.20q "$name")" stalls "$name" --svg "$tmp/name.svg"
		svg "$tmp/name.svg" "it"
		rm "$PATHCTL_CGROUP/$name/cpu.stalls"
		[ "$name" = "$nasty" ] || rmdir "$PATHCTL_CGROUP/$name"
	done
	grep -q ">\.\.\.$(printf '\303\244%.0s' {1..31})x: where" "$tmp/name.svg"
	result $? "of a long name the end is shown, in whole characters"
}

test_stalls_ends() {
	local file=$tmp/ends.svg
	some_steps
	rm "$FAKE_STEPS/1"
	ln -s nothing "$FAKE_STEPS/1"
	timeout 60 "$pathctl" stalls demo --svg "$file" >"$out" 2>"$err" &&
		grep -q "cpu.stalls of cgroup demo: No such file.*ends here" "$err"
	result $? "stalls --svg of what cannot be read any more draws what was"
	svg "$file" "it"
	cp "$file" "$tmp/before.svg"
	some_steps
	rm "$FAKE_STEPS"/[01]
	bad 66 "nothing was counted in cgroup demo meanwhile" "stalls --svg of nothing" \
		stalls demo --svg "$file"
	cmp -s "$file" "$tmp/before.svg"
	result $? "the picture before is still there"
	bad 73 "No such file" "stalls --svg in no directory" stalls demo --svg "$tmp/none/x.svg"
	PATH=$tmp/few bad 69 "install gnuplot" "stalls --svg without gnuplot" \
		stalls demo --svg "$file"
	[ -e "$FAKE_STEPS/now" ] && ! ls "$file".* >"$out" 2>&1
	result $? "and nothing half-written is left"
}

# A file of nonsense after the other
test_stalls_mutations() {
	local i
	some_steps
	ask mutants 300 "$FAKE_STEPS/1" "$tmp/stalls-mutant" text
	result $? "300 mutants of cpu.stalls"
	for ((i = 0; i < 300; i++)); do
		mv "$tmp/stalls-mutant$i/text" "$FAKE_STEPS/$i"
		rmdir "$tmp/stalls-mutant$i"
	done
	good "stalls --svg of mutants" stalls demo --svg "$tmp/mutants.svg"
	svg "$tmp/mutants.svg" "it"
}

# It is looked at before each change.
test_stalls_gone() {
	local dir=$PATHCTL_CGROUP/gone
	local -x FAKE_WAITS=$tmp/waits
	mkdir "$dir"
	printf '%s\n' "cycles 5" "completion cycles=5 error=1" >"$dir/cpu.stalls"
	(
		"$looked"
		printf '%s\n' "cycles 9" "completion cycles=9 error=1" >"$tmp/stalls"
		mv "$tmp/stalls" "$dir/cpu.stalls"
		"$looked"
		mv "$dir" "$tmp/gone"
	) &
	good "stalls --svg of a cgroup that goes" stalls gone --delay 1 --svg "$tmp/gone.svg"
	said "gone.svg: .* s of gone" "ends with it"
	svg "$tmp/gone.svg" "it"
	wait $!
	rm -r "$tmp/gone"
}

test_stalls_svg() {
	local -x LD_PRELOAD=$fakes
	bad 64 "which cgroup" "stalls --svg of no cgroup" stalls --on --svg "$tmp/x.svg"
	bad 64 "not --off, --once or" "stalls --svg --once" stalls demo --once --svg "$tmp/x.svg"
	bad 64 "not --off, --once or" "stalls --svg --off" stalls demo --off --svg "$tmp/x.svg"
	bad 64 "for a picture" "stalls --duration without one" stalls demo --once --duration 5
	bad 64 "from 1 to 1000000" "a bad duration" stalls demo --svg "$tmp/x.svg" --duration 0
	bad 64 "no CGROUP, --tasks or --svg" "stalls --task of a cgroup" stalls demo --task 1
	bad 64 "no CGROUP, --tasks or --svg" "stalls --task --svg" stalls --task 1 --svg "$tmp/x.svg"
	bad 64 "not --svg or --json" "stalls --tasks --json" stalls demo --tasks --json
	bad 64 "which cgroup" "stalls --tasks of no cgroup" stalls --on --tasks
	bad 64 "from 1 to 4194304" "a bad task" stalls --task 0
	bad 69 "no /dev/hpc: boot a kernel with CONFIG_HPC" "stalls --task without a log" \
		stalls --task $$ --once
	test_stalls_gone
	local -x FAKE_STEPS=$tmp/steps
	ln -s "$FAKE_STEPS/now" "$PATHCTL_CGROUP/demo/cpu.stalls"
	make_no_gnuplot
	test_stalls_steps
	test_stalls_long
	test_stalls_picture
	test_stalls_names
	test_stalls_ends
	test_stalls_mutations
	rm "$PATHCTL_CGROUP/demo/cpu.stalls"
}
