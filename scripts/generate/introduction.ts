/** The hand-written head of the protocol page. */
import { conversationText, script } from "./conversation.ts";

export const introduction = `# The wire protocol

A host starts \`bowline --mode rpc\`, writes one JSON object per line to its stdin and reads one JSON object per line from its stdout.
stderr carries diagnostics for people, never protocol data. Closing stdin ends the agent: it aborts what runs, answers the commands it has read,
and exits with code 0. A host that sends a prompt and closes stdin at once therefore sees it aborted.

This page is generated from the rows in \`src/protocol/\`; [\`schema/protocol.json\`](../schema/protocol.json) says the same to programs. Everything a host
needs is here: a whole conversation, the order of events, the rules for lines and answers, and then each frame with its members and an example.

## A whole conversation

The host (\`→\`) offers a tool, asks a question, runs the tool when the model calls it, and reads the answer from the agent's frames (\`←\`). The frames are one line
each and in this order; \`…\` marks members that are left out here. To play it without a model, save this script as \`shop.jsonc\` and start
\`bowline --mode rpc --no-session --updates delta --provider scripted --model shop.jsonc\`:

\`\`\`jsonc
${script}\`\`\`

\`\`\`text
${conversationText()}
\`\`\`

After \`agent_settled\` the session is idle and waits for the next prompt. The host closes stdin when it is done.

## The smallest host

1. Start the process with pipes for stdin and stdout. Read stdout all the time, cut it at LF only, and parse each line.
2. Wait for \`ready\`. Send \`prompt\` with an \`id\` of your own.
3. Match each \`response\` to its command by \`id\`. Answers to several commands may come in another order than the commands.
   A \`success: false\` with the prompt's id is the end of that prompt, also when a success came before it; no
   \`agent_settled\` follows then.
4. Act on frames by \`type\`, and ignore types and members that you do not know: new versions add some.
   For a text as it grows, append \`assistantMessageEvent.delta\` of \`message_update\` frames whose \`assistantMessageEvent.type\` is \`text_delta\`.
   \`message_end\` has the complete message. A reply with \`stopReason\` \`error\` has the reason in \`errorMessage\`.
5. Answer every \`host_tool_call\` with \`host_tool_result\`, and every \`extension_ui_request\` with method \`select\`, \`confirm\`, \`input\` or \`editor\`
   with \`extension_ui_response\` (\`{"cancelled":true}\` if you cannot ask anyone): the agent waits for them. Questions about tool
   calls (\`permission_request\`) come only to a host that has sent \`hello\` with \`permissions: 1\`; answer them with \`permission_response\`.
6. \`agent_settled\` ends the work on a prompt. Do not stop at \`agent_end\`: with \`willRetry: true\` another run follows.

## The order of events

\`\`\`text
prompt ─→ response              accepted (or refused: then nothing below comes)
          agent_start           a run begins
          ┌ turn_start          one reply of the model and its tool calls
          │ ┌ message_start     the prompt; in later turns messages that were steered in
          │ └ message_end
          │ ┌ message_start     the reply, empty
          │ │ message_update    it grows: thinking_*, text_*, toolcall_* (_start, _delta…, _end)
          │ └ message_end       it is complete, and on disk
          │ ┌ tool_execution_start     for each tool call; calls that only read may run at the same time
          │ │ tool_execution_update    progress, any number; for your own tools host_tool_call comes here
          │ └ tool_execution_end
          │ ┌ message_start     its result as a message; results come in the order of the calls
          │ └ message_end
          └ turn_end
            …                   more turns while there are tool calls, steering or follow-ups
          agent_end             the run is over
            …                   with willRetry: true: auto_retry_start or auto_compaction_start/_end, then another run from agent_start on
          agent_settled         idle; nothing follows automatically
\`\`\`

Every frame that starts something has its end, also after an abort or an error. The exception is a prompt that is aborted before its run begins: it has an \`agent_end\` and an
\`agent_settled\` without an \`agent_start\`. \`response\`, \`queue_update\`, \`extension_ui_request\`, \`extension_error\`, \`budget_*\`, \`subagent_*\` and changes of
names and levels may come at any place in between.

## Framing

- A record ends at LF only. One CR before it is stripped; U+2028 and U+2029 are data. The last record may lack its LF.
- Blank records are skipped. A byte order mark at the very start is ignored. Invalid UTF-8 becomes U+FFFD.
- A record over 32 MiB (\`BOWLINE_MAX_LINE_BYTES\`) or nested deeper than 256 levels is answered once with a \`parse\` failure; reading goes on.
- Every outbound frame is one line. U+2028 and U+2029 are escaped, so line readers of any kind are safe.
- The first frame is \`ready\` (\`--no-ready\` leaves it out).

## Answers

Every command is answered by a frame of type \`response\` with the command's \`id\` (a string or a number, absent if the command had none),
its name, \`success\`, and \`data\`, or \`error\` in words and \`code\` for programs. [Error codes](errors.md) says when each comes, and what to do.

| Input | Answer |
|---|---|
| unknown \`type\` | \`Unknown command: <type>\`, code \`unknown_command\`, without id; \`hint\` has the command that was probably meant |
| no \`type\` | command \`undefined\`, \`Unknown command: undefined\`, without id; \`hint\` says what a command needs |
| malformed JSON, or JSON that is not an object | command \`parse\`, \`Failed to parse command: <reason>\`, code \`bad_json\`, without id |
| a required field that is missing or of the wrong type | \`<command>: <field> must be <type>\`, code \`bad_field\`, with id |
| \`prompt\` while the agent works, without \`streamingBehavior\` | one failure: \`Agent is already processing.\` and what to do, code \`busy\` |
| \`prompt\` accepted that cannot run after all: no model, no key, a budget that is used up | success first, then a failure with the same id |
| a \`host_tool_update\` or \`host_tool_result\` without its members | command \`parse\` |
| an answer to an unknown dialog or host tool call | nothing |

An optional field that is \`null\` counts as absent. Unknown members are ignored.

## Dialects

Hosts of pi, omp, xcsh and pisces speak nearly the same protocol. The default dialect, \`classic\`, serves all of them in the versions that
their documents describe, and most newer versions: it contains later additions wherever they only add frames or members. A flag per process switches on what
would change frames. [Migration](migration.md) says which dialect a host needs.

| \`--dialect\` | Differences |
|---|---|
| \`pi\` | \`prompt\` has one answer, when it is clear what becomes of it. A prompt that names a command of an extension is answered when the command has ended. Updates without snapshots, unfinished replies with \`stopReason\` \`pending\` (\`stop\` with \`--updates full\`). \`compaction_start\` and \`compaction_end\` instead of \`auto_compaction_*\`. Without a model \`get_state\` has one whose provider and id are \`unknown\`. \`entry_appended\`, \`bash_execution_update\`, \`summarization_retry_*\`. Level \`max\`. Interrupt mode \`wait\` unless a flag or a setting says otherwise; \`setTitle\` is sent. A prevented \`fork\` answers without \`text\`. Failures of unknown commands carry their id |
| \`omp\` | \`ready\` names protocol versions, \`negotiate_protocol\` is served, and with version 2 frames over 1 MiB come as \`rpc_chunk\` in parts of at most 255 KiB. \`set_fast_mode\` and \`set_host_uri_schemes\` are accepted without effect. No event for \`compact\`. \`prompt_result\` for every accepted prompt, \`session_settled\`, \`available_commands_update\`, \`messageId\` on messages, \`isTerminal\` and \`yielded\` on \`agent_end\`. Built-in slash commands with \`command_output\`; \`model_changed\`, \`config_update\`, \`session_info_update\`; \`open_url\`, and \`cancel\` when the time of a dialog is over. Subagents: \`set_subagent_subscription\`, \`get_subagents\`, \`get_subagent_messages\`. \`get_state\` adds \`isSettled\`, \`queuedMessages\`, \`contextUsage\`, \`tokensPerSecond\`, \`hasPendingAsyncWork\`, \`fastModeEnabled\`, \`fastModeActive\`, \`systemPrompt\`, \`dumpTools\`, and has no \`model\` where there is none. Failures of unknown commands carry their id |
| \`strict\` | for hosts that refuse what they do not know: only frames and members that the old documents name. No \`ready\`, \`agent_settled\`, \`queue_update\`, \`session_info_changed\`, \`thinking_level_changed\`, \`compaction_start\`, \`compaction_end\`, \`disposition\`, dialog \`cancel\`. Four roles of messages; a message with another role is sent as one of the user |

Commands are the same in every dialect, except those that the row of \`omp\` names: elsewhere they fail with \`<command> is not supported\`.

## Lanes

| Lane | Rule |
|---|---|
| control | handled the moment it is read; never answered |
| interrupt | starts immediately, even while a serial command is pending |
| background | starts in order, answered when done, holds nothing up |
| serial | strictly one after another |

*Access* matters only where several connections share one session ([\`bowline serve\`](serve.md)). A host that started the process may send everything.

| Access | Which connection may send it |
|---|---|
| read | every connection; the command changes nothing |
| interject | every connection that may drive sessions: to stop, to steer, to approve |
| seat | the one connection that holds the seat |

## Memory

Frames are never dropped or reordered. While more than 8 MiB wait for the host to read, deltas and progress are merged, the agent waits before its
next model call or tool call, replies are not read from the provider, and serial and background commands wait to start. Interrupt and control
frames still act at once. Above 32 MiB of unhandled commands stdin is paused.

## Streaming

\`message_update\` carries the whole reply so far twice (\`message\` and \`assistantMessageEvent.partial\`), because existing clients need both.
With \`--updates delta\` both are left out and output grows with the reply, not with its square. The first delta after a pause is written at once;
deltas that follow faster than one frame per 16 ms, or while stdout takes no bytes, are joined into the next frame of the same block. With snapshots the wait also
grows with their size, so that they never take more than 8 MB per second.
`;
