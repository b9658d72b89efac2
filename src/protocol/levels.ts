/** Thinking levels, weakest first. Apart from the schemas, because the program needs the words at start. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type PlainLevel = (typeof thinkingLevels)[number];
/** Where the host knows `max` as a level of its own (dialect `pi`), it is above these. Everywhere else it means the highest level of a model. */
export type ThinkingLevel = PlainLevel | "max";
