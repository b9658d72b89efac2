/** How much a session may do without asking. Strictest first. Knows no schema library: the program reads it at start. */
export const permissionModes = ["plan", "ask", "edit", "full"] as const;
export type PermissionModeName = (typeof permissionModes)[number];

/** The `customType` of the entry that records how a question ended, or that a call was denied without one. */
export const permissionEntry = "permission";
