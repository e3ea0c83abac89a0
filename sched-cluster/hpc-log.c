// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/hpc: the pieces of one thread, in a log that a program maps (thesis 2.3: trace buffer).
 *
 * An open file logs one thread, the caller or another one. A thread may have several logs. What
 * it is doing, a region, the program tells by writing a word of the log: that takes no call.
 *
 * A log is in hpc_logs, where the CPU that runs the thread finds it under RCU. Only that CPU
 * writes to the log, with interrupts off, and the scheduler orders one CPU after the other. The
 * program may write anything to what it has mapped, so nothing is believed that is read there.
 *
 * Locks: hpc_logs_mutex, cpus_read_lock() (by tracepoints and the static key), hpc_mutex.
 * hpc_mutex protects hpc_logs, and exec_update_lock of the task is taken before it.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/user.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include <uapi/linux/hpc.h>
#include "hpc.h"

/* A change of the task looks at those of both tasks and at some more, below a runqueue's lock. */
#define HPC_LOGS	4096	/* most logs, half of them for who may look at anything */
#define HPC_LOGS_TASK	8	/* most logs of a thread */
#define HPC_LOGS_BITS	10
#define HPC_LOGS_REST	HZ	/* from the last log to the end of probes */

/**
 * struct hpc_log - a thread that is logged, by one open file
 * @node: in hpc_logs
 * @free: ends it, behind a grace period
 * @task: the thread, with a reference
 * @user: the opener's, with a reference; what is mapped counts as locked by them
 * @head: what is mapped
 * @piece: the first place
 * @pieces: number of places
 * @written: pieces that were written
 * @lost: pieces that found no room
 * @from: the region when the piece began
 * @begun: a piece of the thread has begun while it was logged
 * @may_kernel: the opener may count in kernel mode
 * @capable: the opener may look at anything
 * @denied: the thread executed what the opener may not look at
 * @over: the thread is about to end, or is denied
 * @wait: who waits for a log that is half full, or over
 * @wake: wakes them, as nobody can be woken below a runqueue's lock
 */
struct hpc_log {
	struct hlist_node node;
	struct rcu_work free;
	struct task_struct *task;
	struct user_struct *user;
	struct hpc_log_head *head;
	struct hpc_log_piece *piece;
	u32 pieces;
	u64 written, lost, from;
	bool begun, may_kernel, capable, denied, over;
	wait_queue_head_t wait;
	struct irq_work wake;
};

DEFINE_STATIC_KEY_FALSE(hpc_logging);
static DEFINE_HASHTABLE(hpc_logs, HPC_LOGS_BITS);
/* Logs come and go, and the probes with them, some time later */
static DEFINE_MUTEX(hpc_logs_mutex);
static unsigned int hpc_nr_logs;
static bool hpc_logs_probed;
static u32 hpc_epoch;

static void hpc_logs_rest_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(hpc_logs_rest, hpc_logs_rest_fn);

/* Logs of a task, and some of others: look at @task of each */
#define hpc_for_each_log(log, of) \
	hash_for_each_possible_rcu(hpc_logs, log, node, (unsigned long)(of))

/* Pieces, on the CPU of the thread with interrupts off */

/**
 * hpc_is_logged - has the task a log?
 * @task: the task
 */
bool hpc_is_logged(const struct task_struct *task)
{
	const struct hpc_log *log;
	bool logged = false;

	rcu_read_lock();
	hpc_for_each_log(log, task) {
		logged = log->task == task;
		if (logged)
			break;
	}
	rcu_read_unlock();
	return logged;
}

/**
 * hpc_log_begin - a piece of this task begins
 * @task: the task
 *
 * Context: interrupts are off, on the CPU of @task.
 * Return: it has a log
 */
bool hpc_log_begin(const struct task_struct *task)
{
	struct hpc_log *log;
	bool logged = false;

	lockdep_assert_irqs_disabled();
	rcu_read_lock();
	hpc_for_each_log(log, task) {
		if (log->task != task)
			continue;
		log->from = READ_ONCE(log->head->region);
		log->begun = true;
		logged = true;
	}
	rcu_read_unlock();
	return logged;
}

/* A log that is mapped may say anything, so a tail that cannot be is a full log. */
static bool hpc_log_has_room(const struct hpc_log *log)
{
	/* pairs with the release of who reads the log */
	return log->written - smp_load_acquire(&log->head->tail) < log->pieces;
}

static bool hpc_log_is_half_full(const struct hpc_log *log)
{
	return READ_ONCE(log->written) - READ_ONCE(log->head->tail) >= log->pieces / 2;
}

static void hpc_log_wake_fn(struct irq_work *work)
{
	struct hpc_log *log = container_of(work, struct hpc_log, wake);

	wake_up_interruptible_poll(&log->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

static bool hpc_log_may(const struct hpc_log *log)
{
	return !READ_ONCE(log->denied) && (log->may_kernel || hpc_config.mode == HPC_USER);
}

static void hpc_log_write(struct hpc_log *log, const struct hpc_piece *piece)
{
	struct hpc_log_piece *to = &log->piece[log->written % log->pieces];

	BUILD_BUG_ON(sizeof(to->count) != sizeof(piece->count));
	if (!hpc_log_has_room(log)) {
		WRITE_ONCE(log->head->lost, ++log->lost);
		return;
	}
	to->time = ktime_get_mono_fast_ns();
	to->from = log->from;
	to->to = READ_ONCE(log->head->region);
	to->group = piece->group;
	to->seen = piece->seen;
	to->cpu = smp_processor_id();
	to->epoch = READ_ONCE(hpc_epoch);
	to->slice = piece->slice;
	memcpy(to->count, piece->count, sizeof(to->count));
	/* pairs with the acquire of who reads the log */
	smp_store_release(&log->head->head, log->written + 1);
	WRITE_ONCE(log->written, log->written + 1);
	if (hpc_log_is_half_full(log) && wq_has_sleeper(&log->wait))
		irq_work_queue(&log->wake);
}

/**
 * hpc_log_end - a piece of this task ends
 * @task: the task
 * @piece: the piece. Counts that it does not have are 0
 *
 * Context: interrupts are off, on the CPU of @task.
 */
void hpc_log_end(const struct task_struct *task, const struct hpc_piece *piece)
{
	struct hpc_log *log;

	lockdep_assert_irqs_disabled();
	rcu_read_lock();
	hpc_for_each_log(log, task) {
		if (log->task != task || !log->begun || !hpc_log_may(log))
			continue;
		log->begun = false;
		hpc_log_write(log, piece);
	}
	rcu_read_unlock();
}

/* What is counted */

/* Whoever reads the log sees an odd epoch, or the next one. */
static void hpc_log_set_events(struct hpc_log *log)
{
	const struct hpc_groups *g = &hpc_config.groups;
	struct hpc_log_head *head = log->head;

	BUILD_BUG_ON(HPC_LOG_GROUPS != HPC_GROUPS || HPC_LOG_COUNTS != HPC_AT_ONCE);
	WRITE_ONCE(head->epoch, hpc_epoch - 1);
	/* pairs with who reads epoch, events, epoch */
	smp_wmb();
	memcpy(head->set, g->set, sizeof(head->set));
	head->round = hpc_config.events.set.longest / (4 * HPC_LEAST);
	/* as above */
	smp_store_release(&head->epoch, hpc_epoch);
}

/**
 * hpc_log_new_epoch - counting begins, or other events will be counted: tell all logs
 *
 * Context: may sleep. Called with hpc_mutex, while nothing counts.
 */
void hpc_log_new_epoch(void)
{
	struct hpc_log *log;
	int i;

	lockdep_assert_held(&hpc_mutex);
	WRITE_ONCE(hpc_epoch, hpc_epoch + 2);
	hash_for_each(hpc_logs, i, log, node)
		hpc_log_set_events(log);
}

/* Threads that exit, and that become others' */

static void hpc_log_set_state(struct hpc_log *log, u32 state)
{
	WRITE_ONCE(log->head->state, state);
	WRITE_ONCE(log->over, true);
	irq_work_queue(&log->wake);
}

static void hpc_probe_exit(void *data, struct task_struct *task)
{
	struct hpc_log *log;

	rcu_read_lock();
	hpc_for_each_log(log, task)
		if (log->task == task && !log->denied)
			hpc_log_set_state(log, HPC_LOG_EXITED);
	rcu_read_unlock();
}

/* As perf does it: for good, at the first program that cannot be dumped */
static void hpc_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
			   struct linux_binprm *bprm)
{
	struct hpc_log *log;

	if (get_dumpable(task->mm) == SUID_DUMP_USER)
		return;
	rcu_read_lock();
	hpc_for_each_log(log, task) {
		if (log->task != task || log->capable)
			continue;
		WRITE_ONCE(log->denied, true);
		hpc_log_set_state(log, HPC_LOG_DENIED);
	}
	rcu_read_unlock();
}

static int hpc_logs_probe(void)
{
	int ret = register_trace_sched_process_exec(hpc_probe_exec, NULL);

	if (ret)
		return ret;
	ret = register_trace_sched_process_exit(hpc_probe_exit, NULL);
	if (ret) {
		unregister_trace_sched_process_exec(hpc_probe_exec, NULL);
		return ret;
	}
	static_branch_enable(&hpc_logging);
	hpc_logs_probed = true;
	return 0;
}

/* The first log brings the probes. */
static int hpc_logs_get(bool capable)
{
	int ret = 0;

	mutex_lock(&hpc_logs_mutex);
	if (hpc_nr_logs >= (capable ? HPC_LOGS : HPC_LOGS / 2))
		ret = -EUSERS;
	if (!ret && !hpc_logs_probed)
		ret = hpc_logs_probe();
	if (!ret)
		hpc_nr_logs++;
	mutex_unlock(&hpc_logs_mutex);
	return ret;
}

static void hpc_logs_put(void)
{
	mutex_lock(&hpc_logs_mutex);
	if (!--hpc_nr_logs)
		schedule_delayed_work(&hpc_logs_rest, HPC_LOGS_REST);
	mutex_unlock(&hpc_logs_mutex);
}

/* Code is patched on all CPUs, and who opens and closes logs shall not do that each time. */
static void hpc_logs_rest_fn(struct work_struct *work)
{
	mutex_lock(&hpc_logs_mutex);
	if (!hpc_nr_logs && hpc_logs_probed) {
		static_branch_disable(&hpc_logging);
		unregister_trace_sched_process_exit(hpc_probe_exit, NULL);
		unregister_trace_sched_process_exec(hpc_probe_exec, NULL);
		hpc_logs_probed = false;
	}
	mutex_unlock(&hpc_logs_mutex);
}

/* Watching */

static size_t hpc_log_size(u32 pieces)
{
	return PAGE_SIZE + PAGE_ALIGN(pieces * sizeof(struct hpc_log_piece));
}

/* Charged to the opener's cgroup, as it may be mapped by nobody else */
static struct hpc_log_head *hpc_log_memory(u32 pieces)
{
	return __vmalloc_node_range(hpc_log_size(pieces), SHMLBA, VMALLOC_START, VMALLOC_END,
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO, PAGE_KERNEL, VM_USERMAP,
				    NUMA_NO_NODE, __builtin_return_address(0));
}

static struct hpc_log *hpc_log_alloc(u32 pieces)
{
	struct hpc_log *log = kzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	struct hpc_log_head *head = log ? hpc_log_memory(pieces) : NULL;

	BUILD_BUG_ON(sizeof(*head) > PAGE_SIZE);
	if (!head) {
		kfree(log);
		return NULL;
	}
	head->version = HPC_LOG_VERSION;
	head->piece_size = sizeof(*log->piece);
	head->pieces = pieces;
	head->offset = PAGE_SIZE;
	log->head = head;
	log->piece = (void *)head + PAGE_SIZE;
	log->pieces = pieces;
	init_waitqueue_head(&log->wait);
	init_irq_work(&log->wake, hpc_log_wake_fn);
	return log;
}

static long hpc_log_pages(const struct hpc_log *log)
{
	return hpc_log_size(log->pieces) >> PAGE_SHIFT;
}

static void hpc_log_free(struct hpc_log *log)
{
	if (log->user)
		atomic_long_sub(hpc_log_pages(log), &log->user->locked_vm);
	free_uid(log->user);
	vfree(log->head);
	kfree(log);
}

/* It cannot be swapped out, so as with perf's buffers users have no more than they may lock. */
static int hpc_log_lock(struct hpc_log *log)
{
	unsigned long most = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	log->user = get_uid(current_user());
	if (atomic_long_add_return(hpc_log_pages(log), &log->user->locked_vm) > most &&
	    !log->capable && !capable(CAP_IPC_LOCK))
		return -EPERM;
	return 0;
}

/* As perf_event_open() has it. At 3, which some distributions know, users may count nothing. */
static int hpc_log_may_count(struct hpc_log *log)
{
	int ret = security_perf_event_open(PERF_SECURITY_OPEN);
	/* once: it may change between the question and the answer */
	bool kernel = READ_ONCE(hpc_config.mode) != HPC_USER;

	log->capable = perfmon_capable();
	if (!ret && sysctl_perf_event_paranoid > 2 && !log->capable)
		ret = -EACCES;
	if (!ret && kernel)
		ret = perf_allow_kernel();
	log->may_kernel = log->capable || kernel;
	return ret;
}

static int hpc_log_may_look(const struct hpc_log *log, struct task_struct *task)
{
	if (task != current && !log->capable &&
	    !ptrace_may_access(task, PTRACE_MODE_READ_REALCREDS))
		return -EACCES;
	return 0;
}

static int hpc_log_add(struct hpc_log *log, struct task_struct *task)
{
	const struct hpc_log *other;
	unsigned int nr = 0;

	lockdep_assert_held(&hpc_mutex);
	hash_for_each_possible(hpc_logs, other, node, (unsigned long)task)
		nr += other->task == task;
	if (nr >= HPC_LOGS_TASK)
		return -EUSERS;
	log->task = get_task_struct(task);
	hpc_log_set_events(log);
	hash_add_rcu(hpc_logs, &log->node, (unsigned long)task);
	/* it may have been in do_exit() before the probe could see the log */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING)
		hpc_log_set_state(log, HPC_LOG_EXITED);
	return 0;
}

/* An exec meanwhile would change whether it is allowed. */
static int hpc_log_start(struct hpc_log *log, struct task_struct *task)
{
	int ret = down_read_interruptible(&task->signal->exec_update_lock);

	if (ret)
		return ret;
	ret = hpc_log_may_look(log, task);
	if (!ret) {
		mutex_lock(&hpc_mutex);
		ret = hpc_log_add(log, task);
		mutex_unlock(&hpc_mutex);
	}
	up_read(&task->signal->exec_update_lock);
	return ret;
}

static struct task_struct *hpc_log_task(s32 tid)
{
	return tid ? find_get_task_by_vpid(tid) : get_task_struct(current);
}

static struct hpc_log *hpc_log_watch(const struct hpc_log_watch *watch)
{
	struct task_struct *task;
	struct hpc_log *log;
	int ret;

	if (watch->tid < 0 || !is_power_of_2(watch->pieces) || watch->pieces < HPC_LOG_LEAST ||
	    watch->pieces > HPC_LOG_MOST)
		return ERR_PTR(-EINVAL);
	task = hpc_log_task(watch->tid);
	if (!task)
		return ERR_PTR(-ESRCH);
	log = hpc_log_alloc(watch->pieces);
	ret = log ? hpc_log_may_count(log) : -ENOMEM;
	if (!ret)
		ret = hpc_log_lock(log);
	if (!ret)
		ret = hpc_logs_get(log->capable);
	if (!ret) {
		ret = hpc_log_start(log, task);
		if (ret)
			hpc_logs_put();
	}
	put_task_struct(task);
	if (!ret)
		return log;
	if (log)
		hpc_log_free(log);
	return ERR_PTR(ret);
}

static void hpc_log_free_fn(struct work_struct *work)
{
	struct hpc_log *log = container_of(to_rcu_work(work), struct hpc_log, free);

	irq_work_sync(&log->wake);
	put_task_struct(log->task);
	hpc_log_free(log);
	hpc_logs_put();
}

/* CPUs write to it under RCU. Who closes many need not wait for each. */
static void hpc_log_stop(struct hpc_log *log)
{
	mutex_lock(&hpc_mutex);
	hash_del_rcu(&log->node);
	mutex_unlock(&hpc_mutex);
	INIT_RCU_WORK(&log->free, hpc_log_free_fn);
	queue_rcu_work(system_unbound_wq, &log->free);
}

/* The file */

static int hpc_dev_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static int hpc_dev_release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		hpc_log_stop(file->private_data);
	return 0;
}

static int hpc_dev_watch(struct file *file, const void __user *arg)
{
	struct hpc_log_watch watch;
	struct hpc_log *log;

	if (copy_from_user(&watch, arg, sizeof(watch)))
		return -EFAULT;
	if (READ_ONCE(file->private_data))
		return -EBUSY;
	log = hpc_log_watch(&watch);
	if (IS_ERR(log))
		return PTR_ERR(log);
	/* pairs with hpc_dev_log() */
	if (!cmpxchg(&file->private_data, NULL, log))
		return 0;
	hpc_log_stop(log);
	return -EBUSY;
}

static struct hpc_log *hpc_dev_log(struct file *file)
{
	/* pairs with hpc_dev_watch() */
	return smp_load_acquire(&file->private_data);
}

static int hpc_dev_region(struct file *file, const u64 __user *arg)
{
	struct hpc_log *log = hpc_dev_log(file);
	u64 region;

	if (!log || log->task != current)
		return -EINVAL;
	if (get_user(region, arg))
		return -EFAULT;
	hpc_new_piece(&log->head->region, region);
	return 0;
}

static long hpc_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case HPC_IOC_WATCH:
		return hpc_dev_watch(file, (const void __user *)arg);
	case HPC_IOC_REGION:
		return hpc_dev_region(file, (const u64 __user *)arg);
	}
	return -ENOTTY;
}

static int hpc_dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hpc_log *log = hpc_dev_log(file);

	if (!log || !(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff ||
	    vma->vm_end - vma->vm_start != hpc_log_size(log->pieces))
		return -EINVAL;
	return remap_vmalloc_range(vma, log->head, 0);
}

static __poll_t hpc_dev_poll(struct file *file, poll_table *wait)
{
	struct hpc_log *log = hpc_dev_log(file);
	__poll_t ready = 0;

	if (!log)
		return EPOLLERR;
	poll_wait(file, &log->wait, wait);
	if (hpc_log_is_half_full(log))
		ready |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(log->over))
		ready |= EPOLLHUP;
	return ready;
}

static const struct file_operations hpc_dev_fops = {
	.owner = THIS_MODULE,
	.open = hpc_dev_open,
	.release = hpc_dev_release,
	.unlocked_ioctl = hpc_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = hpc_dev_mmap,
	.poll = hpc_dev_poll,
};

static struct miscdevice hpc_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hpc",
	.fops = &hpc_dev_fops,
	.mode = 0600,
};

static int __init hpc_log_init(void)
{
	return misc_register(&hpc_dev);
}
device_initcall(hpc_log_init);
