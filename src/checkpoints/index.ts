export { type Changes, changesBetween } from "./changes.ts";
export { collect } from "./collect.ts";
export type { History, HistoryPlan } from "./commit-history.ts";
export { type Checkpoint, type CheckpointData, changedByOthers, checkpointAt, checkpointsIn, checkpointType, type Since } from "./history.ts";
export { Checkpoints } from "./policy.ts";
export { prepareRestore, repairRewinds } from "./restore.ts";
export { runsLaterBetween } from "./runs-later.ts";
export { CannotTake, type State, type Taken, TreeStore } from "./tree-store.ts";
