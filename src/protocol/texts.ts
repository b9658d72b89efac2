/** Texts that hosts may match on and that more than one room says. */
export const abortedText = "Request was aborted";
