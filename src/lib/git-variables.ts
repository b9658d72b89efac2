/**
 * Variables that tie every git to one repository, wherever it is started; git itself sets them for hooks and aliases. In a copy they would
 * lead the subagent and its checks back to the live tree.
 */
export const gitPlaceVariables: readonly string[] = [
	"GIT_DIR",
	"GIT_WORK_TREE",
	"GIT_INDEX_FILE",
	"GIT_COMMON_DIR",
	"GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH",
	"GIT_PREFIX",
	"GIT_IMPLICIT_WORK_TREE",
	"GIT_SHALLOW_FILE",
	"GIT_GRAFT_FILE",
];
