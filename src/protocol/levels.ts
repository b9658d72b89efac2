/** Thinking levels, weakest first. Apart from the schemas, because the program needs the words at start. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type PlainLevel = (typeof thinkingLevels)[number];
/** `max` stands above them where the host knows it as a level of its own (dialect `pi`). To all others it is a word for the highest that a model has. */
export type ThinkingLevel = PlainLevel | "max";
