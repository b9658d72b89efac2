/** Who may send what where several connections share a session: every command, named. */
import { expect, test } from "vitest";
import { commands } from "../../src/protocol/commands/index.ts";
import { commandAccess } from "../../src/protocol/names.generated.ts";

const interject = ["abort", "abort_bash", "abort_retry", "follow_up", "steer"];
const read = [
	"get_available_commands",
	"get_available_models",
	"get_available_thinking_levels",
	"get_branch_messages",
	"get_changes",
	"get_checkpoints",
	"get_commands",
	"get_entries",
	"get_fork_messages",
	"get_integrations",
	"get_last_assistant_text",
	"get_login_providers",
	"get_mcp_servers",
	"get_messages",
	"get_messages_page",
	"get_permissions",
	"get_session_stats",
	"get_state",
	"get_subagent_messages",
	"get_subagents",
	"get_tree",
	"ping",
	"set_event_filter",
	"subscribe",
];
const seat = [
	"abort_and_prompt",
	"bash",
	"branch",
	"clear_queue",
	"clone",
	"compact",
	"cycle_model",
	"cycle_thinking_level",
	"export_html",
	"fork",
	"handoff",
	"hello",
	"login",
	"negotiate_protocol",
	"new_session",
	"open_session",
	"prompt",
	"restart_mcp_server",
	"resume_run",
	"revoke_permission",
	"rewind",
	"set_auto_compaction",
	"set_auto_retry",
	"set_fast_mode",
	"set_follow_up_mode",
	"set_host_tools",
	"set_host_uri_schemes",
	"set_interrupt_mode",
	"set_locale",
	"set_mcp_servers",
	"set_model",
	"set_permission_mode",
	"set_session_name",
	"set_steering_mode",
	"set_subagent_subscription",
	"set_thinking_level",
	"set_todos",
	"switch_session",
];

const named = (access: string) =>
	Object.entries(commands)
		.filter(([, row]) => row.access === access)
		.map(([name]) => name)
		.sort();

test("every command has one class, and each class is exactly this list", () => {
	expect(named("read")).toEqual(read);
	expect(named("interject")).toEqual(interject);
	expect(named("seat")).toEqual(seat);
	expect(Object.entries(commandAccess)).toEqual(Object.entries(commands).map(([name, row]) => [name, row.access]));
});
