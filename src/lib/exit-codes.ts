/** How a process that is not driven by a host ends. Scripts rely on these. */
export const exitCodes = {
	done: 0,
	/** No answer, or one that failed or was cut. */
	failed: 1,
	usage: 2,
	/** A ceiling of `task.budget.*` was reached. */
	budget: 3,
	/** Nobody reads what we write. As for a program that SIGPIPE ended, and likewise for the signals. */
	brokenPipe: 141,
	SIGHUP: 129,
	SIGINT: 130,
	SIGTERM: 143,
} as const;
