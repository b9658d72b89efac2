/** Texts that hosts may match on and that more than one room says. */
export const busyText = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
export const abortedText = "Request was aborted";
