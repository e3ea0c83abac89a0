# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034 # variables of ../test
#
# Tests of what uses /dev/mmpath: track PID, record, replay. Part of ../test.
# By the clock that pathctl has here, a second is a tenth of one.

log() {
	ask log "$@"
}

# same FILE FILE DESCRIPTION
same() {
	cmp "$1" "$2" >"$err" 2>&1
	result $? "$3"
}

# A plain file as device, whose views are those of a cgroup.
make_device() {
	local views=$tmp/views
	mkdir -p "$views"
	curve >"$views/0"
	regions >"$views/1"
	region_mrc >"$views/2"
	printf '%s\n' "contexts 1" "dropped_log_full 5" "overhead_permille 42" "sample_shift 0" \
		"coverage_permille 1000" >"$views/3"
	: >"$PATHCTL_DEV"
}

build_fakes() {
	gcc -shared -fPIC -Wall -Werror -I "$here/../../include/uapi" -o "$fakes" \
		"$here/tests/fakes.c" 2>"$err"
	result $? "the device and the clock for tests build"
}

# until_watching PID: pathctl has opened what it needs, and takes signals itself
until_watching() {
	local tries
	for tries in $(seq 600); do
		grep -q '^SigBlk:.*7$' "/proc/$1/status" && return
		sleep 0.05
	done
	not_ok "pathctl $1 does not begin after $tries looks"
}

# ends_by SIGNAL PID PID: the first gets it when the second, pathctl, is at work; its status
ends_by() {
	until_watching "$3"
	kill -s "$1" "$2"
	wait "$3"
}

use_driver() {
	case $1 in
	emul) echo "[emul] replay" ;;
	replay) echo "emul [replay]" ;;
	esac >"$PATHCTL_SYSFS/driver"
}

test_track_pid() {
	local pid
	sleep 60 &
	pid=$!
	good "track PID" track $pid --duration 1
	said "process $pid: watched for [0-9.]* s, still there; 94.2 k records, .*tracking cost 4.2 %" \
		"track PID says how long, and what it cost"
	said "⠉⠉⠉" "track PID draws the curve"
	said "/a file with blanks$" "track PID shows regions"
	said "at most 5 % of the misses (4000 of 80000 since the start)" "track PID answers like size"
	said "^resident:" "track PID looks at what is resident"
	good "track PID --json" track --json -d 1 --misses 50% $pid --csv "$tmp/p.csv" --svg "$tmp/p.svg"
	json "track PID --json"
	json_says 'd["ended"] is False and d["curve"]["records"] == 94210 and len(d["regions"]) == 4' \
		"track PID --json has curve and regions"
	json_says 'd["size"]["enough"]["bytes"] == 28868608 and d["size"]["memory_current"]["now"]["bytes"] > 0' \
		"track PID --json has the size"
	svg "$tmp/p.svg" "track PID --svg"
	[ "$(wc -l <"$tmp/p.csv")" = 66 ]
	result $? "track PID --csv"
	good "track of two, to a file" track $pid $$ -d 1 -o "$tmp/two"
	grep -q "processes $pid, $$: watched" "$tmp/two"
	result $? "track of two names both"
	"$pathctl" track $pid --json >"$out" 2>"$err" &
	ends_by TERM $pid $!
	result $? "track of what ends"
	json_says 'd["ended"] is True' "track ends with the process"
	"$pathctl" track $$ >"$out" 2>"$err" &
	ends_by INT $! $!
	result $? "^C ends tracking"
	said "still there; 94.2 k records" "and shows the curve"
}

test_track_pid_errors() {
	bad 66 "no process 4194305" "no such process" track 4194305
	bad 66 "no process 99999999999" "no such process at all" track 99999999999
	bad 64 "number of a process" "process 0" track 0
	bad 64 "on: must be the number" "a process cannot be switched on" track $$ on
	bad 64 "are for a command" "--keep for a process" track --keep $$
	bad 64 "from 1 to" "a bad duration" track --duration 0 $$
	bad 64 "until it ends" "a duration for a command" track --duration 1 -- true
	bad 64 "from 0% to 100%" "bad misses" track --misses 5x $$
	FAKE_TRACK=1 bad 77 "run pathctl as root" "no rights on the process" track $$
	FAKE_TRACK=13 bad 77 "run pathctl as root" "no access to the process" track $$
	FAKE_TRACK=3 bad 66 "has no memory of its own" "a kernel thread" track $$
	FAKE_TRACK=19 bad 69 "pathctl on" "tracking is off" track $$
	FAKE_TRACK=95 bad 69 "MMU notifiers" "a virtual machine" track $$
	FAKE_TRACK=28 bad 69 "too many others" "too many sessions" track $$
	LD_PRELOAD='' bad 69 "is not the device" "another file" track $$
	PATHCTL_DEV=$tmp/none bad 69 "CONFIG_MMPATH_DEV" "no device" track $$
	PATHCTL_SYSFS=$tmp/none bad 69 "does not track pages" "the wrong kernel" track $$
	echo 0 >"$PATHCTL_SYSFS/enabled"
	"$pathctl" track $$ -d 1 >"$out" 2>"$err"
	file_is "$PATHCTL_SYSFS/enabled" 1 "track PID switches tracking on"
	: >"$tmp/views/0"
	bad 65 "no line" "a malformed view" track $$ -d 1
	make_device
	chmod 600 "$PATHCTL_DEV"
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		as="setpriv --reuid=65534 --regid=65534 --clear-groups"
		bad 77 "run pathctl as root" "no permission for the device" track $$
		bad 77 "run pathctl as root" "no permission to record" record -d 1 $$
		as=
	else
		skip "no permission for the device" "not root"
	fi
}

test_record() {
	local file=$tmp/rec.log
	log make lossy "$tmp/lossy"
	log raw "$tmp/lossy" "$PATHCTL_DEV"
	good "record PID" record -o "$file" -d 1 $$
	said "rec.log: 20 accesses (10 writes) of 1 process, 7 lost, in [0-9.]* s" "record says what it got"
	log is "$file" "$PATHCTL_DEV"
	result $? "the recording is as documented"
	good "record --json" record -o "$file.zst" --json -d 1 $$
	json "record --json"
	json_says '(d["accesses"], d["writes"], d["lost"], d["processes"], d["driver"], d["resolved_from_pages"]) == (20, 10, 7, 1, "emul", 2048)' \
		"record --json has what is known"
	[ "$(head -c 4 "$file.zst" | od -An -tx1)" = " 28 b5 2f fd" ]
	result $? "a recording in .zst is compressed"
	if command -v zstd >/dev/null; then
		zstd -dqf "$file.zst" -o "$tmp/plain"
		log is "$tmp/plain" "$PATHCTL_DEV"
		result $? "zstd uncompresses it"
	else
		skip "zstd uncompresses it" "no zstd"
	fi
	"$pathctl" record -o - -d 1 $$ >"$tmp/stdout.log" 2>"$out"
	log is "$tmp/stdout.log" "$PATHCTL_DEV"
	result $? "a recording on stdout is whole"
	echo $$ >"$PATHCTL_CGROUP/demo/inner/cgroup.procs"
	good "record CGROUP" record -o "$file" -d 1 demo
	log is "$file" "$PATHCTL_DEV"
	result $? "a recording of a cgroup is whole"
	record_outsiders "$file" "$PATHCTL_CGROUP/demo/inner/cgroup.procs"
	: >"$PATHCTL_CGROUP/demo/inner/cgroup.procs"
	sed -i 's/^contexts 1/contexts 0/' "$tmp/views/3"
	good "record of a cgroup that is empty ends" record -o "$file" demo
	make_device
}

# What is in a cgroup, and not in our PID namespace, has the number 0 there.
record_outsiders() {
	local file=$1 procs=$2 pid tries
	rm "$file"
	"$pathctl" record -o "$file" demo >"$out" 2>"$err" &
	pid=$!
	until_watching $pid
	printf '%s\n' 0 $$ 0 >"$procs"
	for tries in $(seq 600); do
		grep -q "namespace" "$err" || ! kill -0 $pid 2>/dev/null && break
		sleep 0.05
	done
	kill -INT $pid 2>/dev/null
	wait $pid
	result $? "a process of elsewhere ends no recording ($tries looks)"
	[ "$(grep -c "other PID namespace is not recorded" "$err")" = 1 ]
	result $? "which says once that it is missing"
	log is "$file" "$PATHCTL_DEV"
	result $? "and is whole"
	bad 77 "demo has a process of another PID namespace" "one that was there before" \
		record -o "$file" demo
}

test_record_ends() {
	local file=$tmp/ends.log
	log make loop "$tmp/loop"
	log raw "$tmp/loop" "$PATHCTL_DEV"
	"$pathctl" record -o "$file" -- sh -c 'echo hello; sleep 0.3; exit 7' >"$out" 2>"$err"
	[ $? = 7 ] && [ "$(cat "$out")" = hello ] && grep -q "6000 accesses" "$err"
	result $? "record -- COMMAND hands on its output and its status"
	log is "$file" "$PATHCTL_DEV"
	result $? "a recording of a command is whole"
	"$pathctl" record -o - -- sh -c 'echo hello; exit 7' >"$file" 2>"$out"
	[ $? = 7 ] && log is "$file" "$PATHCTL_DEV"
	result $? "a recording of a command on stdout is whole, too"
	said "^hello$" "and what the command says is beside it"
	"$pathctl" record -o "$file" $$ >"$out" 2>"$err" &
	ends_by INT $! $!
	said "6000 accesses" "^C ends a recording"
	log is "$file" "$PATHCTL_DEV"
	result $? "and it is whole"
	# shellcheck disable=SC2016 # for that shell
	"$pathctl" record -o "$file" -- sh -c 'trap "exit 3" TERM; kill -TERM $PPID; sleep 5 & wait' \
		>"$out" 2>"$err"
	[ $? = 3 ]
	result $? "SIGTERM is for the command"
	make_device
}

# The statistics change while it runs: in place, as the view stays open, and all at once.
test_record_dropped() {
	local pid tries
	sed 's/full 5/full 9/; s/shift 0/shift 2/' "$tmp/views/3" >"$tmp/stat"
	"$pathctl" record -o "$tmp/d.log" --json $$ >"$out" 2>"$err" &
	pid=$!
	# then it knows what was dropped before
	for tries in $(seq 600); do
		ls "$tmp"/d.log* >/dev/null 2>&1 && break
		sleep 0.05
	done
	dd if="$tmp/stat" of="$tmp/views/3" bs=64k conv=notrunc status=none
	ends_by INT $pid $pid
	result $? "record of what the driver drops, after $tries looks"
	json_says '(d["lost"], d["sample_shift"]) == (4, 2)' "what the driver dropped is lost, too"
	good "that recording" replay --check "$tmp/d.log" --json
	json_says '(d["lost"], d["sample_shift"]) == (4, 2)' "and says so"
	make_device
}

test_record_errors() {
	bad 64 "record what" "nothing to record" record
	bad 64 "one cgroup" "two cgroups" record demo off
	bad 66 "no cgroup nosuch" "no such cgroup" record nosuch
	bad 66 "no process 4194305" "no such process" record 4194305
	bad 73 "No such file" "a file in no directory" record -o "$tmp/none/x" $$
	bad 127 "nosuchcommand: No such file" "no such command" record -o "$tmp/x.log" -- nosuchcommand
	FAKE_RECORD=16 bad 74 "cannot record: Device or resource busy" "no recording" record $$
	FAKE_TRACK=19 bad 69 "pathctl on" "tracking is off" record -o "$tmp/x.log" $$
	FAKE_TRACK=19 bad 69 "pathctl on" "tracking is off, command" record -o "$tmp/x.log" -- true
	LD_PRELOAD='' bad 69 "is not the device" "another file" record $$
	PATHCTL_DEV=$tmp/none bad 69 "CONFIG_MMPATH_DEV" "no device" record $$
	ls "$tmp"/x.log* >/dev/null 2>&1
	result $((!$?)) "no half-written recording is left"
}

test_check() {
	local kind
	for kind in loop processes huge empty lossy longer-header pages-64k beyond; do
		log make $kind "$tmp/a.log"
		good "replay --check of $kind" replay --check "$tmp/a.log" --json
		json "what is in $kind"
	done
	log make lossy "$tmp/a.log"
	"$pathctl" replay --check "$tmp/a.log" >"$out" 2>"$err"
	said "20 accesses (10 writes) of 1 process, 7 lost; .*driver test, pages of 4096 bytes" \
		"replay --check says what is in it"
	said "lost; 2026-11-2[0-9] ..:..:.., driver" "replay --check says when"
	grep -q "one page in 8 was tracked" "$err"
	result $? "replay --check says that pages were sampled"
}

# What readers have to know that others wrote.
test_check_others() {
	log make no-start "$tmp/a.log"
	good "replay --check of what does not say when" replay --check "$tmp/a.log"
	said "lost; when is not known, driver" "replay --check does not know either"
	log make most-lost "$tmp/a.log"
	good "replay --check of most that can be lost" replay --check "$tmp/a.log"
	said "18446744073709551615 lost" "most that can be lost"
	if command -v zstd >/dev/null; then
		log make loop "$tmp/a.log"
		zstd -qc --long=31 <"$tmp/a.log" >"$tmp/a.log.zst"
		good "replay --check of zstd --long=31" replay --check "$tmp/a.log.zst"
		said ": 6000 accesses" "what is in it"
	else
		skip "replay --check of zstd --long=31" "no zstd"
	fi
}

# Where a recording may be written to. The link: who replaces the device does so for all.
test_record_outputs() {
	local tries
	log make loop "$tmp/loop"
	log raw "$tmp/loop" "$PATHCTL_DEV"
	bad 74 "full: No space left" "a full device" record -o "$tmp/full" -d 1 $$
	[ -L "$tmp/full" ]
	result $? "a recording leaves the device in place"
	mkfifo "$tmp/pipe.log"
	timeout 20 cat "$tmp/pipe.log" >"$tmp/through.log" &
	good "record into a pipe" record -o "$tmp/pipe.log" -d 1 $$
	wait $!
	[ -p "$tmp/pipe.log" ] && log is "$tmp/through.log" "$PATHCTL_DEV"
	result $? "a recording goes through a pipe"
	"$pathctl" record -o "$tmp/pipe.log" $$ >"$out" 2>"$err" &
	# it has opened the device, and now waits
	for tries in $(seq 200); do
		[ "$PATHCTL_DEV" -ef "/proc/$!/fd/3" ] && break
		sleep 0.05
	done
	sleep 0.2
	for tries in $(seq 60); do
		kill -TERM $! 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
	[ $? = 143 ]
	result $? "who waits for the reader of a pipe can be ended ($tries signals)"
	: >"$tmp/target.log"
	ln -s target.log "$tmp/link.log"
	good "record to a link" record -o "$tmp/link.log" -d 1 $$
	[ -L "$tmp/link.log" ] && log is "$tmp/target.log" "$PATHCTL_DEV"
	result $? "a recording goes through a link"
	good "track PID to a link" track $$ -d 1 -o "$tmp/link.log" --csv "$tmp/full.csv" --svg "$tmp/full.svg"
	[ -L "$tmp/link.log" ] && grep -q "still there" "$tmp/target.log"
	result $? "a summary goes through a link"
	bad 74 "full: No space left" "a summary, and no space" track $$ -d 1 -o "$tmp/full"
	make_device
}

# bad_log KIND PATTERN: refused, and not a byte of it reaches the kernel
bad_log() {
	log make "$1" "$tmp/bad.log"
	bad 65 "$2" "replay of bad: $1" replay "$tmp/bad.log"
	[ ! -s "$PATHCTL_DEV" ]
	result $? "bad: $1: nothing was replayed"
}

test_bad_logs() {
	use_driver replay
	bad_log nothing "too short"
	bad_log short "too short"
	bad_log magic "no recording"
	bad_log version "version 2, but this pathctl knows version 1"
	bad_log header-size "header of 32 bytes"
	bad_log header-huge "header of 2147483648 bytes"
	bad_log event-size "events of 24 bytes"
	bad_log page-size "pages of 5000 bytes"
	bad_log driver "name of the driver"
	bad_log cut "cut off after 6000 events"
	bad_log cut-in-event "cut off after 308 events"
	bad_log count "6000 events, but it should have 5999"
	bad_log more "something follows"
	bad_log end "end is absurd"
	bad_log end-zero "end is absurd"
	bad_log type "event 6000 is absurd: type 2"
	bad_log order "order 14"
	bad_log order-255 "order 255"
	bad_log flags "flags 0x4"
	bad_log pid "pid 4194304"
	bad_log unaligned "address 0x100000000008"
	bad_log address "address 0x200000000000000"
	bad_log last-address "order 1,"
	bad_log lost-nothing "type 1"
	bad_log too-many-lost "event 6001 is absurd: with it more than 2^64 - 1"
	bad_log pages-64k "pages of 65536 bytes, but here they have 4096"
	"$pathctl" record -o "$tmp/z.zst" -d 1 $$ >"$out" 2>"$err"
	head -c 20 "$tmp/z.zst" >"$tmp/cut.zst"
	bad 65 "cut\|short\|damaged" "a compressed recording cut off" replay "$tmp/cut.zst"
	(head -c 30 "$tmp/z.zst"; echo damage; tail -c +37 "$tmp/z.zst") >"$tmp/damaged.zst"
	bad 65 "damaged" "a compressed recording damaged" replay "$tmp/damaged.zst"
	bad 66 "No such file" "no recording" replay "$tmp/nosuch.log"
	bad 66 "no plain file" "a directory" replay "$tmp"
	mkfifo "$tmp/fifo.log"
	bad 66 "no plain file" "a pipe that nobody writes to" replay --check "$tmp/fifo.log"
	head -c -4 "$tmp/z.zst" >"$tmp/cut.zst"
	bad 65 "cut off" "a compressed recording without its checksum" replay --check "$tmp/cut.zst"
	head -c -1 "$tmp/z.zst" >"$tmp/cut.zst"
	bad 65 "cut off" "with a part of its checksum" replay --check "$tmp/cut.zst"
	(cat "$tmp/z.zst"; echo more) >"$tmp/more.zst"
	bad 65 "damaged" "with something behind it" replay --check "$tmp/more.zst"
	bad 64 "which recording" "no name" replay
	use_driver emul
}

test_log_mutations() {
	log make lossy "$tmp/seed"
	mkdir "$tmp/mutants"
	log mutants "${MUTATIONS:-150}" "$tmp/seed" "$tmp/mutants/"
	result $? "recordings are mutated"
	"$tmp/bin/many" replay --check -- "$tmp"/mutants/* >"$out" 2>"$err"
	result $? "mutated recordings are understood or refused"
	rm -r "$tmp/mutants"
}

test_replay() {
	log make processes "$tmp/a.log"
	log raw "$tmp/a.log" "$tmp/a.raw"
	bad 69 "the driver is emul: sudo pathctl driver replay" "another driver" replay "$tmp/a.log"
	use_driver replay
	good "replay" replay "$tmp/a.log"
	said "of 3 processes, 0 lost; 94.2 k records" "replay says what it replayed"
	said "⠉⠉⠉" "replay draws the curve"
	same "$PATHCTL_DEV" "$tmp/a.raw" "all accesses are replayed in order"
	: >"$PATHCTL_DEV"
	good "replay --json --csv" replay "$tmp/a.log" --json --csv "$tmp/r.csv" --misses 50%
	json "replay --json"
	json_says 'd["processes"] == 3 and d["curve"]["records"] == 94210 and d["size"]["enough"]["bytes"] == 28868608' \
		"replay --json has everything"
	: >"$PATHCTL_DEV"
	log make longer-header "$tmp/a.log"
	good "replay with a longer header" replay "$tmp/a.log"
	same "$PATHCTL_DEV" "$tmp/loop.raw" "what is added to the header is skipped"
	log make empty "$tmp/a.log"
	good "replay of nothing" replay "$tmp/a.log"
	log make lossy "$tmp/a.log"
	"$pathctl" replay "$tmp/a.log" --json >"$out" 2>"$err"
	json_says 'd["curve"]["resolved_from_pages"] == 2048 and d["lost"] == 7' \
		"replay keeps what the recording says of itself"
	log make many "$tmp/a.log"
	bad 69 "1499 processes, but only 1000" "too many processes" replay "$tmp/a.log"
	log make loop "$tmp/a.log"
	log make processes "$tmp/b.log"
	FAKE_CHANGED=$tmp/b.log bad 65 "a.log: was changed while it was read" \
		"a recording that is changed between its two readings" replay "$tmp/a.log"
	log make loop "$tmp/a.log"
	PATHCTL_DEV=/dev/full bad 74 "cannot replay: No space left" "a write that fails" replay "$tmp/a.log"
	FAKE_TRACK=19 bad 69 "pathctl on" "tracking is off" replay "$tmp/a.log"
	PATHCTL_SYSFS=$tmp/none bad 69 "does not track pages" "the wrong kernel" replay "$tmp/a.log"
	use_driver emul
	make_device
}

test_device() {
	local -x PATHCTL_DEV=$tmp/dev FAKE_VIEWS=$tmp/views
	make_device
	local -x LD_PRELOAD=$fakes
	log make loop "$tmp/loop.log"
	log raw "$tmp/loop.log" "$tmp/loop.raw"
	test_track_pid
	test_track_pid_errors
	test_record
	test_record_ends
	test_record_dropped
	test_record_errors
	test_record_outputs
	test_check
	test_check_others
	test_bad_logs
	test_log_mutations
	test_replay
}

# ---- against the kernel that runs ----------------------------------------------

no_context() {
	local i
	for i in $(seq 600); do
		[ "$(cat "$PATHCTL_SYSFS/stats/contexts")" = 0 ] && break
		sleep 0.1
	done
	file_is "$PATHCTL_SYSFS/stats/contexts" 0 "$1"
}

# watches DESCRIPTION ARGUMENT...: as good, of a program that is ready, and goes when it is watched
watches() {
	local what=$1 watcher
	shift
	: <"$ready"
	"$pathctl" "$@" >"$out" 2>"$err" &
	watcher=$!
	until_watching $watcher
	: >"$go"
	wait $watcher && [ ! -s "$err" ]
	result $? "$what"
}

test_live_track_pid() {
	local pid
	python3 -c "$loop
$stay" &
	pid=$!
	: <"$ready"
	python3 -c "$wait_to_go
$loop" &
	watches "track PID, live" track $! --json
	json_says '6144 <= d["curve"]["footprint_pages"] < 12000 and d["ended"] is True' "its footprint"
	json_says '15000 < d["curve"]["points"][0]["total"] < 60000' "its misses"
	json_says 'd["size"]["enough"]["bytes"] >= 24 << 20' "its size"
	good "track of a process that rests, live" track $pid -d 1 --json
	json_says 'd["ended"] is False and d["size"]["memory_current"]["now"]["bytes"] >= 24 << 20' \
		"what it has resident"
	bad 66 "has no memory of its own" "a kernel thread, live" track 2
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	bad 77 "run pathctl as root" "the device, not as root" track $pid
	as=
	kill $pid
	no_context "a session leaves nothing"
}

# replay_is FILE DESCRIPTION: its curve is that of another implementation
replay_is() {
	good "$2: replay" replay "$1" --json
	log curve "$1" "$out"
	result $? "$2: the curve is exact"
}

test_live_record() {
	local pid entries=$PATHCTL_SYSFS/drivers/emul/log_entries before
	before=$(cat "$entries")
	good "a log that is long enough" driver emul log_entries=65536
	"$pathctl" record --json -o "$tmp/r.log" -- python3 -c "$loop" >"$out" 2>"$err"
	cp "$err" "$out"
	json_says 'd["accesses"] >= 4 * 6144 and d["lost"] == 0 and d["processes"] == 1' \
		"what was recorded of a loop"
	python3 -c "$wait_to_go
$loop" &
	watches "record PID, live" record -o "$tmp/p.log.zst" --json $!
	json_says 'd["accesses"] >= 4 * 6144' "what was recorded of a process"
	mkdir "$PATHCTL_CGROUP/recorded"
	sh -c 'echo $$ >"$0/cgroup.procs"; : >"$2"; : <"$3"; python3 -c "$1"; sleep 0.1' \
		"$PATHCTL_CGROUP/recorded" "$loop" "$ready" "$go" &
	pid=$!
	watches "record CGROUP, live" record -o "$tmp/c.log" --json recorded
	json_says 'd["accesses"] >= 4 * 6144 and d["processes"] >= 2' "what was recorded of a cgroup"
	wait $pid
	rmdir "$PATHCTL_CGROUP/recorded"
	no_context "recording leaves nothing"
	echo "$before" >"$entries"
}

test_live_replay() {
	local kind before
	bad 69 "the driver is emul" "replay with another driver, live" replay "$tmp/r.log"
	good "driver replay, live" driver replay
	before=$(cat "$PATHCTL_SYSFS/stats/records")
	replay_is "$tmp/r.log" "a loop that was recorded"
	good "replay of what was compressed, live" replay "$tmp/p.log.zst" --json
	json_says '6144 <= d["curve"]["footprint_pages"] < 12000' "as many pages as the program has"
	replay_is "$tmp/c.log" "a cgroup that was recorded"
	for kind in loop processes huge; do
		log make $kind "$tmp/made.log"
		replay_is "$tmp/made.log" "made up: $kind"
	done
	[ "$(cat "$PATHCTL_SYSFS/stats/records")" -gt "$before" ]
	result $? "the kernel has counted them"
	log make beyond "$tmp/made.log"
	bad 65 "refuses access 1: address 0x100000000000000" "an address beyond, live" \
		replay "$tmp/made.log"
	no_context "replaying leaves nothing"
	good "driver emul, live" driver emul
}

test_live_device() {
	[ -e /dev/mmpath ] || { skip "/dev/mmpath" "this kernel has none"; return; }
	test_live_track_pid
	test_live_record
	test_live_replay
}
