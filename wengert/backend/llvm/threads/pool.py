"""The threads of this process, as native code: they sleep until there is work to share.

`pool_share` is what `share` of a kernel (`sharing.py`) calls: it announces the work, does chunks of it like everybody
else, and returns when all are done. Chunks are taken in order, so that of several that fail the first, by number, is
always found. A thread that wakes up too late finds nothing to do. If another kernel has the threads, the answer is −1:
its caller then does all by itself.

Each thread keeps memory of its own for temporaries. It never goes to Python; nobody ever ends it.
"""

from __future__ import annotations

from wengert.backend.llvm.calls.faults import RECORD, SIGNALLED

TEXT = f"""
%pool = type {{
  [64 x i8], [64 x i8], [64 x i8],  ; 0 a lock; 1 there is work; 2 the last thread has left
  ptr, ptr, i64, i64,               ; 3 the function, 4 its values, 5 how many chunks, 6 bytes of memory wanted
  i64, i64, i32, [{RECORD} x i64],  ; 7 the next chunk, 8 the first that failed, 9 its status, 10 its record
  i64, i64, i64, i64, i32           ; 11 threads at work, 12 is work open, 13 its number, 14 threads wanted, 15 taken
}}

@pool = internal global %pool zeroinitializer, align 64

declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare ptr @memcpy(ptr, ptr, i64)

define i32 @pool_init() {{
  %a = call i32 @pthread_mutex_init(ptr @pool, ptr null)
  %b = call i32 @pthread_cond_init(ptr getelementptr (%pool, ptr @pool, i64 0, i32 1), ptr null)
  %c = call i32 @pthread_cond_init(ptr getelementptr (%pool, ptr @pool, i64 0, i32 2), ptr null)
  ret i32 0
}}

; One more thread, with a number; not zero if there cannot be one.
define i32 @pool_start(i64 %number) {{
  %id = alloca i64
  %argument = inttoptr i64 %number to ptr
  %status = call i32 @pthread_create(ptr %id, ptr null, ptr @worker, ptr %argument)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %started, label %end
started:
  %handle = load i64, ptr %id
  %ignored = call i32 @pthread_detach(i64 %handle)
  br label %end
end:
  ret i32 %status
}}

; Threads with numbers below this take part.
define i32 @pool_limit(i64 %count) {{
  call void @lock()
  store i64 %count, ptr getelementptr (%pool, ptr @pool, i64 0, i32 14)
  call void @unlock()
  ret i32 0
}}

define internal void @lock() {{
  %a = call i32 @pthread_mutex_lock(ptr @pool)
  ret void
}}

define internal void @unlock() {{
  %a = call i32 @pthread_mutex_unlock(ptr @pool)
  ret void
}}

; Note that a chunk failed.
define internal void @fail(i64 %chunk, i32 %status, ptr %record) {{
  call void @lock()
  %first = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 8)
  %earlier = icmp slt i64 %chunk, %first
  br i1 %earlier, label %note, label %end
note:
  store atomic i64 %chunk, ptr getelementptr (%pool, ptr @pool, i64 0, i32 8) monotonic, align 8
  store i32 %status, ptr getelementptr (%pool, ptr @pool, i64 0, i32 9)
  %to = getelementptr %pool, ptr @pool, i64 0, i32 10
  %copied = call ptr @memcpy(ptr %to, ptr %record, i64 {8 * RECORD})
  br label %end
end:
  call void @unlock()
  ret void
}}

; Do chunks until there are none left.
define internal void @take(ptr %scratch, ptr %poll) {{
  %record = alloca [{RECORD} x i64]
  %function = load ptr, ptr getelementptr (%pool, ptr @pool, i64 0, i32 3)
  %values = load ptr, ptr getelementptr (%pool, ptr @pool, i64 0, i32 4)
  %chunks = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 5)
  br label %next
next:
  %k = atomicrmw add ptr getelementptr (%pool, ptr @pool, i64 0, i32 7), i64 1 monotonic
  %first = load atomic i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 8) monotonic, align 8
  %some = icmp slt i64 %k, %chunks
  %needed = icmp slt i64 %k, %first
  %go = and i1 %some, %needed
  br i1 %go, label %work, label %end
work:
  %status = call i32 %function(ptr %values, ptr %record, ptr %scratch, i64 %k)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %ask, label %bad
bad:
  call void @fail(i64 %k, i32 %status, ptr %record)
  br label %end
ask:
  %asks = icmp ne ptr %poll, null
  br i1 %asks, label %asking, label %next
asking:
  %raised = call i32 %poll(ptr %record)
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %next, label %signalled
signalled:
  call void @fail(i64 -1, i32 {SIGNALLED}, ptr %record)
  br label %end
end:
  ret void
}}

define i32 @pool_share(ptr %function, ptr %values, ptr %record, i64 %chunks, i64 %nbytes, ptr %poll) {{
  %before = atomicrmw xchg ptr getelementptr (%pool, ptr @pool, i64 0, i32 15), i32 1 acquire
  %free = icmp eq i32 %before, 0
  br i1 %free, label %announce, label %busy
busy:
  ret i32 -1
announce:
  call void @lock()
  store ptr %function, ptr getelementptr (%pool, ptr @pool, i64 0, i32 3)
  store ptr %values, ptr getelementptr (%pool, ptr @pool, i64 0, i32 4)
  store i64 %chunks, ptr getelementptr (%pool, ptr @pool, i64 0, i32 5)
  store i64 %nbytes, ptr getelementptr (%pool, ptr @pool, i64 0, i32 6)
  store i64 0, ptr getelementptr (%pool, ptr @pool, i64 0, i32 7)
  store i64 %chunks, ptr getelementptr (%pool, ptr @pool, i64 0, i32 8)
  store i32 0, ptr getelementptr (%pool, ptr @pool, i64 0, i32 9)
  store i64 1, ptr getelementptr (%pool, ptr @pool, i64 0, i32 12)
  %number = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 13)
  %following = add i64 %number, 1
  store i64 %following, ptr getelementptr (%pool, ptr @pool, i64 0, i32 13)
  call void @unlock()
  %woken = call i32 @pthread_cond_broadcast(ptr getelementptr (%pool, ptr @pool, i64 0, i32 1))
  call void @take(ptr null, ptr %poll)
  call void @lock()
  store i64 0, ptr getelementptr (%pool, ptr @pool, i64 0, i32 12)
  br label %test
test:
  %running = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 11)
  %all_left = icmp eq i64 %running, 0
  br i1 %all_left, label %done, label %wait
wait:
  %ignored = call i32 @pthread_cond_wait(ptr getelementptr (%pool, ptr @pool, i64 0, i32 2), ptr @pool)
  br label %test
done:
  call void @unlock()
  %status = load i32, ptr getelementptr (%pool, ptr @pool, i64 0, i32 9)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %end, label %bad
bad:
  %from = getelementptr %pool, ptr @pool, i64 0, i32 10
  %copied = call ptr @memcpy(ptr %record, ptr %from, i64 {8 * RECORD})
  br label %end
end:
  %after = atomicrmw xchg ptr getelementptr (%pool, ptr @pool, i64 0, i32 15), i32 0 release
  ret i32 %status
}}

define internal ptr @worker(ptr %argument) {{
  %own = ptrtoint ptr %argument to i64
  %place = alloca ptr
  %size = alloca i64
  %seen = alloca i64
  store ptr null, ptr %place
  store i64 0, ptr %size
  store i64 0, ptr %seen
  br label %sleep
sleep:
  call void @lock()
  br label %test
test:
  %open = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 12)
  %number = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 13)
  %wanted = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 14)
  %last = load i64, ptr %seen
  %is_open = icmp ne i64 %open, 0
  %is_new = icmp ne i64 %number, %last
  %is_wanted = icmp slt i64 %own, %wanted
  %two = and i1 %is_open, %is_new
  %go = and i1 %two, %is_wanted
  br i1 %go, label %join, label %wait
wait:
  %ignored = call i32 @pthread_cond_wait(ptr getelementptr (%pool, ptr @pool, i64 0, i32 1), ptr @pool)
  br label %test
join:
  store i64 %number, ptr %seen
  %running = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 11)
  %more = add i64 %running, 1
  store i64 %more, ptr getelementptr (%pool, ptr @pool, i64 0, i32 11)
  %nbytes = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 6)
  call void @unlock()
  %have = load i64, ptr %size
  %enough = icmp uge i64 %have, %nbytes
  br i1 %enough, label %work, label %grow
grow:
  %old = load ptr, ptr %place
  call void @free(ptr %old)
  store ptr null, ptr %place
  store i64 0, ptr %size
  %status = call i32 @posix_memalign(ptr %place, i64 64, i64 %nbytes)
  %got = icmp eq i32 %status, 0
  br i1 %got, label %grown, label %leave
grown:
  store i64 %nbytes, ptr %size
  br label %work
work:
  %memory = load ptr, ptr %place
  call void @take(ptr %memory, ptr null)
  br label %leave
leave:
  call void @lock()
  %now = load i64, ptr getelementptr (%pool, ptr @pool, i64 0, i32 11)
  %less = sub i64 %now, 1
  store i64 %less, ptr getelementptr (%pool, ptr @pool, i64 0, i32 11)
  %none = icmp eq i64 %less, 0
  call void @unlock()
  br i1 %none, label %tell, label %sleep
tell:
  %told = call i32 @pthread_cond_signal(ptr getelementptr (%pool, ptr @pool, i64 0, i32 2))
  br label %sleep
}}
"""
