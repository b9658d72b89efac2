/** Thinking levels, weakest first. Apart from the schemas, because the program needs the words at start. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];
