# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # variables of ../test
#
# Tests of cpu.cluster.lines: clusters --lines, --shmap and --json. Part of ../test.

# lines LINE...: those of demo
lines() {
	printf '%s\n' "$@" >"$PATHCTL_CGROUP/demo/cpu.cluster.lines"
}

some_lines() {
	lines "91 3 0x55d0f0aa1040 false 0x55d0f0a9e2b1 4194399 2 91:40:0x0003 93:38:0x00c0" \
		"91 17 0x55d0f0aa1080 atomic 0x55d0f0a9e2c2 4194399 2 90:100:0x0001 92:20:0x0001" \
		"91 18 0x55d0f0aa10c0 data 0x55d0f0a9e2d3 4194399 3 90:3:0x8003 92:255:0xffff" \
		"91 30 0x0 single 0x0 0 1 95:5:0x0000"
}

# many_lines COUNT TAKERS KIND: each with fewer samples than the one before
many_lines() {
	awk -v count="$1" -v takers="$2" -v kind="$3" 'BEGIN {
		for (i = 0; i < count; i++) {
			printf "91 %d 0x%x %s 0x0 0 %d", i, 4096 + 64 * i, kind, takers
			for (t = 0; t < takers; t++)
				printf " %d:%d:0x0001", 1000 + t, 255 - (takers > 1 ? 0 : i)
			print ""
		}
	}' >"$PATHCTL_CGROUP/demo/cpu.cluster.lines"
}

test_lines_missing() {
	bad 69 "boot a kernel with CONFIG_TASK_CLUSTER that is as new" "--lines of an older kernel" \
		clusters demo --lines --once
	bad 69 "no cpu.cluster.lines in demo" "--shmap of an older kernel" clusters demo --shmap --once
	good "--json of an older kernel" clusters demo --json
	json_says 'd["lines"] is None and len(d["threads"]) == 5' "which has no lines and all else"
	some_lines
	echo none >"$PATHCTL_CGROUP/demo/cpu.cluster"
	mv "$PATHCTL_CGROUP/demo/cpu.cluster.stat" "$tmp/kept"
	local view
	local -x LD_PRELOAD=$fakes FAKE_ENODATA=cpu.cluster.lines
	for view in --lines --shmap; do
		good "$view without a mode" clusters demo $view --once
		[ "$(tail -n +2 "$out")" = "No clusters are looked for here: pathctl clusters demo process" ]
		result $? "$view says how to begin, and nothing else"
	done
	good "--json without a mode" clusters demo --json
	json_says 'd["lines"] == []' "which has no lines"
	unset LD_PRELOAD
	mv "$tmp/kept" "$PATHCTL_CGROUP/demo/cpu.cluster.stat"
	echo process >"$PATHCTL_CGROUP/demo/cpu.cluster"
	: >"$PATHCTL_CGROUP/demo/cpu.cluster.lines"
	good "--lines of nothing" clusters demo --lines --once
	said "often enough yet, or you may not trace them" "--lines tells that there are none"
	good "--shmap of nothing" clusters demo --shmap --once
	bad 66 "nothing to draw" "--svg of nothing" clusters demo --shmap --svg "$tmp/d.svg"
}

test_lines_table() {
	some_lines
	bad 69 "pathctl clusters --lines --once" "--lines without a terminal" clusters demo --lines
	good "--lines" clusters demo --lines --once
	said "^demo: process, sampling$" "--lines has the state"
	said "^461 samples of 4 lines: 17 % false sharing, 26 % atomic, 56 % data, 1 % one thread only$" \
		"--lines sums up"
	said "^threads in lines of their own, .*__attribute__((aligned(64)))" "--lines tells what to do"
	said "^0x55d0f0aa1040  false  *78  *2  0x55d0f0a9e2b1  91:0-7 93:24-31$" "--lines has a line"
	said "^0x55d0f0aa10c0  data  *258+  *3  0x55d0f0a9e2d3  90:0-7,60-63 92:0-63 ...$" \
		"--lines merges bytes, and tells of what was not counted or not listed"
	said "^-  *single  *5  *1  -  *95:-$" "--lines has no address of who has gone"
	[ "$(awk '/^ADDRESS/ { found = 1; next } found { print $2 }' "$out" | xargs)" = "data atomic false single" ]
	result $? "--lines has the hottest first"
	good "--lines of data only" clusters demo --lines --once
	lines "91 18 0x55d0f0aa10c0 data 0x55d0f0a9e2d3 4194399 2 90:3:0x8003 92:4:0xffff"
	good "--lines without false sharing" clusters demo --lines --once
	said "^7 samples of 1 line: 0 % false sharing, 0 % atomic, 100 % data$" "--lines sums up one line"
	grep -q aligned "$out"
	result $((!$?)) "--lines gives no advice without need"
}

test_lines_json() {
	some_lines
	good "--json with lines" clusters demo --json
	json "--json with lines"
	json_says 'd["lines"][2] == {"group": 91, "entry": 3, "address": "0x55d0f0aa1040", "kind": "false", "code": "0x55d0f0a9e2b1", "by": 4194399, "threads": 2, "takers": [{"tid": 91, "samples": 40, "words": 3}, {"tid": 93, "samples": 38, "words": 192}]}' \
		"--json has a line"
	json_says '[l["entry"] for l in d["lines"]] == [18, 17, 3, 30]' "--json has the hottest first"
}

# malformed_line LINE DESCRIPTION: it is passed over, those around it are not
malformed_line() {
	lines "91 1 0x1040 data 0x2000 0 1 91:40:0x0003" "$1" "91 2 0x1080 data 0x2000 0 1 91:30:0x0003"
	"$pathctl" clusters demo --json >"$out" 2>"$err" && [ ! -s "$err" ] &&
		ask says "$out" '[l["entry"] for l in d["lines"]] == [1, 2]'
	result $? "$2 is passed over"
}

test_lines_malformed() {
	local rest="data 0x2000 0 1 91:40:0x0003"
	malformed_line "" "an empty line"
	malformed_line "91 3 0x1040" "a line cut off"
	malformed_line "91 3 0x1040 data 0x2000 0 1" "a line without takers"
	malformed_line "91 256 0x1040 $rest" "an entry that there is not"
	malformed_line "-91 3 0x1040 $rest" "a negative group"
	malformed_line "91 3 1040 $rest" "an address that is not hexadecimal"
	malformed_line "91 3 0x $rest" "an address without digits"
	malformed_line "91 3 0x-1 $rest" "a negative address"
	malformed_line "91 3 0x10000000000000000 $rest" "an address of more than 64 bits"
	malformed_line "91 3 0x1040 lock 0x2000 0 1 91:40:0x0003" "an unknown kind"
	malformed_line "91 3 0x1040 data 0x2000 0 99999999999999999999 91:40:0x0003" "a huge number"
	malformed_line "91 3 0x1040 $rest 92" "a taker cut off"
	malformed_line "91 3 0x1040 $rest 92:4" "a taker without words"
	malformed_line "91 3 0x1040 $rest 92:256:0x1" "too many samples"
	malformed_line "91 3 0x1040 $rest 92:4:0x10000" "too many words"
	malformed_line "91 3 0x1040 $rest 92:4:0x1:0x1" "a taker with too much"
	malformed_line "91 3 0x1040 $rest ::" "a taker of nothing"
	malformed_line "$nasty" "a nasty line"
	lines "18446744073709551615 255 0xffffffffffffffff false 0xffffffffffffffff 18446744073709551615 18446744073709551615 18446744073709551615:255:0xffff"
	good "the largest numbers" clusters demo --lines --once
	said "^0xffffffffffffffff  false  *255+  18446744073709551615  0xffffffffffffffff  18446744073709551615:0-63 ...$" \
		"which are shown"
	good "a picture of them" clusters demo --shmap --once
	many_lines 256 64 false
	good "256 lines of 64 threads" clusters demo --lines --once
	said "^4177920 samples of 256 lines: 100 % false" "which are all there"
	COLUMNS=400 good "their picture" clusters demo --shmap --once
	[ "$(grep -o █ "$out" | wc -l)" = $((256 * 64 + 1)) ]
	result $? "which has all squares"
}

# Every mutation is shown as far as it makes sense; never a crash.
test_lines_mutations() {
	local dir view mutants=$PATHCTL_CGROUP/mutants
	some_lines
	ask mutants "${MUTATIONS:-150}" "$PATHCTL_CGROUP/demo/cpu.cluster.lines" "$mutants/" cpu.cluster.lines
	result $? "lines are mutated"
	for dir in "$mutants"/*; do
		cp "$PATHCTL_CGROUP"/demo/cpu.cluster{,.stat,.tasks} "$dir"
	done
	for view in --lines --shmap --json; do
		"$tmp/bin/many" clusters $view --once -- "$mutants"/* >"$out" 2>"$err"
		result $? "mutated lines can be shown with $view"
	done
	rm -r "$mutants"
}

# sharer FILE: starts it; its numbers are in $pid, $variable, $code and $other
sharer() {
	local i
	: >"$tmp/sharer.out"
	"$1" >"$tmp/sharer.out" &
	for ((i = 0; i < 600; i++)); do
		read -r pid variable code other <"$tmp/sharer.out" && break
		sleep 0.1
	done
	lines "91 3 $variable false $code $pid 2 91:40:0x0003 93:38:0x00c0"
}

end_sharer() {
	kill "$pid"
	wait "$pid" 2>/dev/null
}

# As binutils see it
source_of_code() {
	local start
	start=$(awk -v name="$1" '$NF == name { sub("-.*", ""); print; exit }' "/proc/$pid/maps")
	addr2line -e "$1" "$(printf '%#x' $((code - 0x$start)))" | sed 's/ (discr.*//'
}

test_lines_code() {
	local pid variable code other where dir=$tmp/sharers
	mkdir "$dir"
	gcc -g -O1 -fPIE -pie -Wall -Werror -o "$dir/sharer" "$here/tests/sharer.c" 2>"$err" &&
		strip -o "$dir/stripped" "$dir/sharer"
	result $? "a program that shares builds"
	sharer "$dir/sharer"
	where=$(source_of_code "$dir/sharer")
	good "--lines of a program with debug information" clusters demo --lines --once
	said "^$variable  board+0x40  false  *78  *2  take+0x8 ${where##*/}  91:0-7" \
		"--lines has the variable, the function and the line of the source"
	good "--json of it" clusters demo --json
	json_says "d['lines'][0]['symbol'] == 'take+0x8' and d['lines'][0]['variable'] == 'board+0x40'" \
		"--json has the symbols"
	json_says "d['lines'][0]['source'] == '$where'" "--json has the line of the source"
	lines "$(printf '91 3 0x%x data %s %d 1 91:40:0x%x' $((other & ~63)) "$code" "$pid" \
		$((1 << (other & 63) / 4)))"
	good "--lines of a variable of a library" clusters demo --lines --once
	said " _IO_2_1_stdout_  data " "--lines has the variable that is used, not what begins the line"
	lines "91 3 $variable false $code $pid 2 91:40:0x0003 93:38:0x00c0"
	if [ "$(id -u)" = 0 ]; then
		rm "$dir/sharer"
		good "--lines of a file that was deleted" clusters demo --lines --once
		said "  take+0x8 ${where##*/}  " "which is read all the same"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$pathctl" clusters demo --lines --once \
			>"$out" 2>"$err" && [ ! -s "$err" ] && grep -q "  $code  91:0-7" "$out"
		result $? "--lines of a process that may not be looked at has the address"
	else
		skip "--lines of a file that was deleted" "not root"
		skip "--lines of a process that may not be looked at" "not root"
	fi
	end_sharer
	good "--lines of a process that has gone" clusters demo --lines --once
	said "^$variable  false  *78  *2  $code  91:0-7" "which has the addresses"
	sharer "$dir/stripped"
	where=$(printf '%#x' $((code - 0x$(awk '/stripped$/ { sub("-.*", ""); print; exit }' "/proc/$pid/maps"))))
	good "--lines of a stripped program" clusters demo --lines --once
	said "  stripped+$where  91:0-7" "which has the object"
	end_sharer
}

test_shmap() {
	some_lines
	bad 69 "pathctl clusters --shmap --once" "--shmap without a terminal" clusters demo --shmap
	good "--shmap" clusters demo --shmap --once
	said "^5 threads, 4 lines; samples up to ░ 31, ▒ 63, ▓ 127, █ 255$" "--shmap has a scale"
	sed 1,3d "$out" | cmp - <(cat <<-'END'
		      1       90   ▓░
		      1       92   ░█
		      2       91  ▒
		      2       93  ▒
		      -       95     ░
	END
	) >"$err"
	result $? "--shmap has a row for each thread, by cluster"
	LC_ALL=C good "--shmap without UTF-8" clusters demo --shmap --once
	said "^      1       92   .@$" "--shmap without UTF-8 is ASCII"
	many_lines 100 1 data
	COLUMNS=80 good "--shmap of many lines" clusters demo --shmap --once
	said "^1 thread, the 62 hottest of 100 lines;" "--shmap has the hottest lines"
	[ "$(wc -L <"$out")" -le 80 ]
	result $? "--shmap fits the terminal"
	some_lines
	echo "200 0 0x1000 data 0x0 0 2 95:9:0x1 201:9:0x2" >>"$PATHCTL_CGROUP/demo/cpu.cluster.lines"
	good "--shmap of two processes" clusters demo --shmap --once
	said "^      91       2       93  ▒$" "--shmap of two processes has the first"
	said "^     200       -      201      ░$" "--shmap of two processes has the other one"
	good "--shmap --svg" clusters demo --shmap --svg "$tmp/d.svg"
	svg "$tmp/d.svg" "--shmap --svg"
	grep -q '91/2: 93' "$tmp/d.svg" && [ ! -s "$out" ]
	result $? "--shmap --svg names threads, there only"
	bad 73 "No such file" "--shmap --svg in no directory" clusters demo --shmap --svg "$tmp/none/x.svg"
	cp -r "$PATHCTL_CGROUP"/demo/cpu.cluster* "$PATHCTL_CGROUP/$nasty/"
	good "--shmap --svg of a nasty name" clusters "$nasty" --shmap --svg "$tmp/e.svg"
	svg "$tmp/e.svg" "--shmap --svg of a nasty name"
	rm "$PATHCTL_CGROUP/$nasty"/cpu.cluster*
}

# What changes in the second frame shares no letter with what was there.
test_lines_live() {
	command -v script >/dev/null || return
	many_lines 30 1 false
	(
		shows "13 more with fewer"
		many_lines 30 1 unknown
		shows "unknown"
		printf q
	) | LINES=24 COLUMNS=80 TERM=xterm script -qefc "$pathctl clusters --lines --delay 1 demo" \
		/dev/null >"$out" 2>"$err"
	result $? "--lines on a terminal ends with q"
	said "13 more with fewer samples" "a frame has what fits"
	said "unknown" "and the next one what is new"
	awk 'BEGIN { for (i = 0; i < 62; i++)
		printf "91 %d 0x1000 data 0x0 0 1 90:%d:0x1\n", i, i % 2 ? 3 : 255 }' \
		>"$PATHCTL_CGROUP/demo/cpu.cluster.lines"
	(
		shows "█░█░"
		printf q
	) | LINES=24 COLUMNS=80 TERM=xterm script -qefc "$pathctl clusters --shmap --delay 1 demo" \
		/dev/null >"$out" 2>"$err"
	result $? "--shmap on a terminal ends with q"
	said "\(█░\)\{31\}" "which shows the picture up to its right edge"
}

test_lines() {
	local -x PATHCTL_TASKCLUSTER=$tmp/taskcluster
	mkdir "$PATHCTL_TASKCLUSTER"
	echo sampling >"$PATHCTL_TASKCLUSTER/state"
	clusters
	test_lines_missing
	test_lines_table
	test_lines_json
	test_lines_malformed
	test_lines_mutations
	test_lines_code
	test_shmap
	test_lines_live
	bad 64 "which one" "two views" clusters demo --lines --shmap
	bad 64 "only of --shmap" "a picture of a table" clusters demo --lines --svg "$tmp/x.svg"
	bad 64 "without a view" "a view and a mode" clusters --lines demo none
	file_is "$PATHCTL_CGROUP/demo/cpu.cluster" process "which changes nothing"
	rm -r "$PATHCTL_TASKCLUSTER" "$PATHCTL_CGROUP"/demo/cpu.cluster*
}
