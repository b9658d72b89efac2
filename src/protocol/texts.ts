/** Texts that hosts may match on and that more than one room says. */
export const busyText = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
export const abortedText = "Request was aborted";

/** The result of a call that was running when the process was killed. */
export const lostResultText = "Tool execution was aborted: the agent ended before its result was kept.";
