/** Why there is no summary, when an extension did not want one. */
export const refusedText = "an extension refused it";
