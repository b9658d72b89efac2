/** A project in `work` below a folder, as a survey is told about it. */
import { join } from "node:path";
import type { Ground } from "../../src/sandbox/survey.ts";

export function groundIn(folder: string, changes: Partial<Ground> = {}): Ground {
	const work = join(folder, "work");
	return {
		mode: "workspace-write",
		cwd: work,
		roots: [work],
		home: join(folder, "home"),
		isHomeHidden: false,
		userDirectory: join(folder, "user"),
		path: "/usr/bin",
		hidden: [],
		readable: [],
		protected: [],
		git: "write",
		gitProgram: undefined,
		isRoot: false,
		temporary: { "/tmp": join(folder, "private/tmp"), "/var/tmp": join(folder, "private/var-tmp") },
		ownReadable: [],
		...changes,
	};
}
