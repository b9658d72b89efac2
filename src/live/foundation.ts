/** What a session is built on: its models, its store, its conversation and the choice of a model. */
import { Doors } from "../agent/doors.ts";
import { stderrLog } from "../lib/log.ts";
import { Bus } from "../session/bus.ts";
import { Conversation } from "../session/conversation.ts";
import type { Edges } from "../session/dependencies.ts";
import type { ModelChoice } from "../session/model-choice.ts";
import type { Front } from "./front.ts";
import { modelChoice } from "./model-choice.ts";
import { Models } from "./models.ts";
import { Secrets } from "./secrets.ts";
import { beginning, openStore } from "./start-session.ts";
import type { Workspace } from "./workspace.ts";

export interface Foundation {
	/** Asks the policies. It has none yet. */
	doors: Doors;
	models: Models;
	secrets: Secrets;
	store: ReturnType<typeof openStore>;
	/** Receives entries as they are added to the session. */
	entries: { heard: ((entry: object) => void) | undefined };
	conversation: Conversation;
	/** The one that the session begins with. */
	transcript: Conversation["transcript"];
	isNew: boolean;
	edges: Edges;
	choice: ModelChoice;
	/** Flags name a scripted model. */
	isScripted: boolean;
}

export function foundation(workspace: Workspace, { flow, warn, variations = {} }: Front): Foundation {
	const now = Date.now;
	const doors = new Doors();
	const models = new Models(workspace, doors, warn);
	const secrets = new Secrets(() => models.registry(), models.knownSecrets);
	const entries: Foundation["entries"] = { heard: variations.onEntry };
	const store = openStore(workspace, { redact: secrets.redact, now, onEntry: (entry) => entries.heard?.(entry) });
	const { transcript, isNew } = beginning(workspace.options, store);
	const conversation = new Conversation(transcript, now);
	const log = stderrLog(() => conversation.transcript.sessionId);
	const edges: Edges = { bus: new Bus(log), flow, redact: secrets.redact, warn, log, now };
	const choice = modelChoice(workspace, models, conversation, variations);
	const script = models.startScript();
	choice.use(script);
	if (isNew) for (const entry of choice.entries()) conversation.transcript.prepare(entry);
	return { doors, models, secrets, store, entries, conversation, transcript, isNew, edges, choice, isScripted: script !== undefined };
}
