/** Exit codes of a process without a host, besides those of `exitCodeOf`. Scripts rely on them. */
export const exitCodes = {
	done: 0,
	/** No answer, or one that failed or was cut. */
	failed: 1,
	usage: 2,
	/** A tool call needed an approval, and no host could be asked. */
	unapproved: 4,
	/** There is no value that fits --output-schema. */
	noOutput: 5,
	/** The reader of our output is gone. Same code as a program that SIGPIPE ended, and likewise for the other signals. */
	brokenPipe: 141,
	SIGHUP: 129,
	SIGINT: 130,
	SIGTERM: 143,
} as const;
