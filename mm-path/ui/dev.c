// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mmpath: track single processes, record and replay page accesses.
 *
 * An open file is a session. It has a domain of its own, with the processes that
 * were added to it (by pidfd, with ptrace access) and their children. Tracking ends
 * with the session, also when the program that has it open is killed. Views are
 * further files, which read like memory.path.*; each holds a reference to the session.
 *
 * See include/uapi/linux/mmpath.h and Documentation/admin-guide/mm/path/.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/memcontrol.h>
#include <linux/miscdevice.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <uapi/linux/mmpath.h>
#include "ui.h"

struct mmpath_session {
	struct kref ref;
	struct mmpath_domain *dom;
};

/* The last file is closed, so no process can be added to the domain any more. */
static void mmpath_session_release(struct kref *ref)
{
	struct mmpath_session *s = container_of(ref, struct mmpath_session, ref);

	mmpath_untrack_all(s->dom);
	mmpath_domain_destroy(s->dom);
	kfree(s);
}

/*
 * A session of a task without CAP_PERFMON loses a program that executes one which cannot be
 * dumped. A session that was passed to such a task is restricted, too, for good.
 */
static void mmpath_session_restrict(struct mmpath_session *s)
{
	if (!perfmon_capable())
		WRITE_ONCE(s->dom->restricted, true);
}

static int mmpath_dev_open(struct inode *inode, struct file *file)
{
	struct mmpath_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	struct mem_cgroup *memcg;

	if (!s)
		return -ENOMEM;
	memcg = get_mem_cgroup_from_current();
	s->dom = mmpath_domain_create(memcg);
	mem_cgroup_put(memcg);
	if (!s->dom) {
		kfree(s);
		return -ENOMEM;
	}
	s->dom->session = true;
	mmpath_session_restrict(s);
	kref_init(&s->ref);
	file->private_data = s;
	return stream_open(inode, file);
}

static int mmpath_dev_release(struct inode *inode, struct file *file)
{
	struct mmpath_session *s = file->private_data;

	kref_put(&s->ref, mmpath_session_release);
	return 0;
}

/* Views */

struct mmpath_view {
	struct mmpath_session *session;
	int (*show)(struct seq_file *m, struct mmpath_domain *dom);
};

static int mmpath_view_show(struct seq_file *m, void *v)
{
	struct mmpath_view *view = m->private;

	return view->show(m, view->session->dom);
}

static void mmpath_view_free(struct mmpath_view *view)
{
	kref_put(&view->session->ref, mmpath_session_release);
	kfree(view);
}

/* Without a seq_file the open has failed, and mmpath_dev_view() frees the view. */
static int mmpath_view_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	if (!m)
		return 0;
	mmpath_view_free(m->private);
	return single_release(inode, file);
}

static const struct file_operations mmpath_view_fops = {
	.read = seq_read,
	.llseek = seq_lseek,
	.release = mmpath_view_release,
};

static int (* const mmpath_views[])(struct seq_file *m, struct mmpath_domain *dom) = {
	[MMPATH_VIEW_MRC]		= mmpath_show_mrc,
	[MMPATH_VIEW_REGIONS]		= mmpath_show_regions,
	[MMPATH_VIEW_REGION_MRC]	= mmpath_show_region_mrc,
	[MMPATH_VIEW_STAT]		= mmpath_show_stat,
};

static struct mmpath_view *mmpath_view_alloc(struct mmpath_session *s, u32 which)
{
	struct mmpath_view *view;

	if (which >= ARRAY_SIZE(mmpath_views))
		return ERR_PTR(-EINVAL);
	view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return ERR_PTR(-ENOMEM);
	kref_get(&s->ref);
	view->session = s;
	view->show = mmpath_views[which];
	return view;
}

static int mmpath_dev_view(struct mmpath_session *s, u32 which)
{
	struct mmpath_view *view = mmpath_view_alloc(s, which);
	struct file *file;
	int fd, ret;

	if (IS_ERR(view))
		return PTR_ERR(view);
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		ret = fd;
		goto err_view;
	}
	file = anon_inode_getfile("[mmpath]", &mmpath_view_fops, NULL, O_RDONLY);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto err_fd;
	}
	file->f_mode |= FMODE_LSEEK | FMODE_PREAD;
	ret = single_open(file, mmpath_view_show, view);
	if (ret)
		goto err_file;
	fd_install(fd, file);
	return fd;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
err_view:
	mmpath_view_free(view);
	return ret;
}

/* Tracking, recording, replaying */

static int mmpath_dev_track(struct mmpath_session *s, int pidfd)
{
	struct task_struct *task;
	struct mm_struct *mm;
	unsigned int flags;
	int ret;

	task = pidfd_get_task(pidfd, &flags);
	if (IS_ERR(task))
		return PTR_ERR(task);
	mm = mm_access(task, PTRACE_MODE_ATTACH_REALCREDS);
	put_task_struct(task);
	if (IS_ERR_OR_NULL(mm))
		return mm ? PTR_ERR(mm) : -ESRCH;
	/* a sync must not wait for the program's mmap_lock, but this caller may */
	while ((ret = mmpath_track(mm, s->dom)) == -EBUSY && !fatal_signal_pending(current) &&
	       !mmap_read_lock_killable(mm))
		mmap_read_unlock(mm);
	mmput(mm);
	if (!ret)
		mmpath_finish_scans();
	return ret;
}

static long mmpath_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mmpath_session *s = file->private_data;
	u32 val;

	mmpath_session_restrict(s);
	switch (cmd) {
	case MMPATH_IOC_TRACK:
	case MMPATH_IOC_VIEW:
		if (get_user(val, (u32 __user *)arg))
			return -EFAULT;
		return cmd == MMPATH_IOC_TRACK ? mmpath_dev_track(s, val) : mmpath_dev_view(s, val);
	case MMPATH_IOC_RECORD:
		return mmpath_domain_record(s->dom);
	}
	return -ENOTTY;
}

/* Copy the events that wait. Returns their bytes, 0 if there are none, or an error. */
static ssize_t mmpath_dev_take(struct mmpath_recorder *rec, char __user *buf, size_t count)
{
	unsigned int copied;
	int ret;

	mutex_lock(&rec->lock);
	ret = kfifo_to_user(&rec->fifo, buf, count, &copied);
	mutex_unlock(&rec->lock);
	/* not ?: because copied is unsigned, and the error would be converted */
	return ret ? ret : (ssize_t)copied;
}

static bool mmpath_dev_has_news(const struct mmpath_session *s, struct mmpath_recorder *rec)
{
	return !kfifo_is_empty(&rec->fifo) || mmpath_domain_is_left(s->dom);
}

/* Another reader may be faster and leave nothing. So look again after each wait. */
static ssize_t mmpath_dev_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct mmpath_session *s = file->private_data;
	struct mmpath_recorder *rec = READ_ONCE(s->dom->recorder);
	bool left;
	ssize_t ret;

	if (!rec || count < sizeof(struct mmpath_event))
		return -EINVAL;
	for (;;) {
		if (mmpath_drain_domain(s->dom))
			return -EINTR;
		left = mmpath_domain_is_left(s->dom);
		ret = mmpath_dev_take(rec, buf, count);
		if (ret || left)
			return ret;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(rec->wait, mmpath_dev_has_news(s, rec));
		if (ret)
			return ret;
	}
}

static __poll_t mmpath_dev_poll(struct file *file, poll_table *wait)
{
	struct mmpath_session *s = file->private_data;
	struct mmpath_recorder *rec = READ_ONCE(s->dom->recorder);
	__poll_t events = 0;

	if (!rec)
		return EPOLLERR;
	poll_wait(file, &rec->wait, wait);
	if (mmpath_domain_is_left(s->dom))
		events |= EPOLLHUP;
	if (!kfifo_is_empty(&rec->fifo))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

/* Replay accesses into the writer's own address space. */
static ssize_t mmpath_dev_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	const struct mmpath_event __user *from = (void __user *)buf;
	size_t i, n = count / sizeof(*from);
	struct mmpath_event ev;
	int ret;

	for (i = 0; i < n; i++) {
		if (copy_from_user(&ev, from + i, sizeof(ev)))
			return i ? i * sizeof(ev) : -EFAULT;
		ret = mmpath_replay(current->mm, &ev);
		if (ret)
			return i ? i * sizeof(ev) : ret;
		cond_resched();
	}
	return n ? n * sizeof(ev) : -EINVAL;
}

static const struct file_operations mmpath_dev_fops = {
	.owner = THIS_MODULE,
	.open = mmpath_dev_open,
	.release = mmpath_dev_release,
	.unlocked_ioctl = mmpath_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = mmpath_dev_read,
	.write = mmpath_dev_write,
	.poll = mmpath_dev_poll,
};

static struct miscdevice mmpath_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mmpath",
	.fops = &mmpath_dev_fops,
	.mode = 0600,
};

static int __init mmpath_dev_init(void)
{
	return misc_register(&mmpath_dev);
}
device_initcall(mmpath_dev_init);
