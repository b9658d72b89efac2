"""What a Python program gets from the client, seen with the real agent."""

import os
import sys
import tempfile
import threading
import unittest

from bowline import Client, ExitError, HostTool, RequestError, RequestTimeout

from bowline.testing import record_args, replay_args

from .support import ECHO, PROGRAM, odd_agent, scripted

WEATHER_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASK_WEATHER = {"blocks": [{"tool": "weather", "arguments": {"city": "Bergen"}}]}

QUESTION = """
export default (bowline) => {
    bowline.registerCommand("ask", {
        description: "asks",
        handler: async (args, ctx) => {
            const sure = await ctx.ui.confirm("Sure?", "really");
            const name = await ctx.ui.input("Name?");
            ctx.ui.notify(`${sure} ${name}`);
        },
    });
};
"""


class Deciding(unittest.TestCase):
    def test_a_handler_decides_about_tool_calls_and_one_that_fails_denies_with_the_reason(self):
        words = ("one", "two", "raise", "exit", "stop", "nothing", "scope", "one")
        calls = [{"blocks": [{"tool": "bash", "arguments": {"command": f"echo {word}"}}]} for word in words]
        asked, ends, failures = [], [], []

        def decide(request):
            word = request["text"].split()[1]
            asked.append(word)
            if word == "raise":
                raise ValueError("broken")
            if word == "exit":
                sys.exit("gone")
            if word == "stop":
                raise StopIteration
            answers = {
                "one": {"decision": "allow", "scope": "session", "unknown": object()},
                "two": {"decision": "deny", "message": "not two"},
                "scope": {"decision": "allow", "scope": "forever"},
            }
            return answers.get(word)

        client = Client(scripted(*calls, {"text": "done"}), args=["--permission-mode", "ask"])
        client.on_permission(decide)
        with client:
            client.on("tool_execution_end", lambda event: ends.append(event["result"]["content"][0]["text"]))
            client._loop.call_soon_threadsafe(
                client._loop.set_exception_handler, lambda _, context: failures.append(str(context["exception"]))
            )
            client.prompt_and_wait("go", timeout=60)
            # The last one is covered by the answer for the session.
            self.assertEqual(asked, list(words[:-1]))
            self.assertEqual((ends[0], ends[-1]), ("one\n", "one\n"))
            reasons = [
                "not two",
                "The host's handler failed: broken",
                "The host's handler failed: the function raised SystemExit: gone",
                "The host's handler failed: the function raised StopIteration",
                "The host's handler failed: on_permission: the handler must return",
                "The host's handler failed: on_permission: scope must be",
            ]
            for end, reason in zip(ends[1:-1], reasons):
                self.assertTrue(end.startswith(f"Denied by the user. {reason}"), end)
            self.assertEqual(len(failures), 5)
            self.assertEqual(failures[0], "broken")
            self.assertEqual([grant["rule"]["command"] for grant in client.get_permissions()["grants"]], ["echo one"])
            client.on_permission(None)
            self.assertEqual(client.get_permissions()["pending"], [])


class Talking(unittest.TestCase):
    def test_a_recorded_session_is_played(self):
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, "review.jsonl")
            with Client([*PROGRAM, *record_args(record), "--provider", "scripted", "--model", "echo"]) as client:
                self.assertEqual(client.prompt_and_wait("approve").text, "approve")
            with Client([*PROGRAM, *replay_args(record)]) as client:
                self.assertEqual(client.prompt_and_wait("approve").text, "approve")
            with Client([*PROGRAM, *replay_args(record)]) as client:
                self.assertIn("differs from the record", client.prompt_and_wait("reject").error)

    def test_a_prompt_with_a_schema_ends_with_a_value(self):
        submit = {"blocks": [{"tool": "submit_result", "arguments": {"result": {"data": {"verdict": "approve"}}}}]}
        with Client(scripted(submit, {"text": "no"}, {"text": "no"}, {"text": "no"})) as client:
            result = client.prompt_and_wait("Review the last commit", schema={"type": "object", "required": ["verdict"]})
            self.assertEqual((result.output, result.output_error), ({"verdict": "approve"}, None))
            result = client.prompt_and_wait("and?", schema={"type": "integer"})
            self.assertIn("after 2 reminders", result.output_error)

    def test_a_prompt_is_answered_and_listeners_have_heard_everything(self):
        with Client(ECHO) as client:
            heard = []
            client.on("event", lambda event: heard.append(event["type"]))
            result = client.prompt_and_wait("hello")
            self.assertEqual((result.text, result.stop_reason, result.error, result.aborted), ("hello", "stop", None, False))
            self.assertEqual((heard[0], heard[-1]), ("agent_start", "agent_settled"))
            self.assertEqual(client.get_last_assistant_text(), {"text": "hello"})
        self.assertEqual(client.exit_code, 0)

    def test_events_can_be_iterated_until_the_agent_ends(self):
        with Client(ECHO) as client:
            events = client.events()
            client.prompt("one two")
            deltas = []
            for event in events:
                if event["type"] == "message_update" and event["assistantMessageEvent"]["type"] == "text_delta":
                    deltas.append(event["assistantMessageEvent"]["delta"])
                if event["type"] == "agent_settled":
                    break
            self.assertEqual("".join(deltas), "one two")

    def test_a_refusal_tells_the_command_the_reason_and_the_code(self):
        with Client(ECHO) as client:
            with self.assertRaisesRegex(RequestError, "set_model: Model not found: nope/x"):
                client.set_model("nope", "x")
            with self.assertRaises(RequestError) as caught:
                client.get_entries(since="never")
            self.assertEqual(caught.exception.code, "unknown_since")
            with self.assertRaisesRegex(RequestError, "Unknown command: frob"):
                client.request("frob")
            self.assertEqual(client.bash("echo still there")["output"].strip(), "still there")

    def test_a_prompt_that_is_refused_behind_its_acknowledgement_raises(self):
        # There is no such script, which shows only when the prompt is about to run.
        with Client([*PROGRAM, "--provider", "scripted", "--model", "./missing.jsonc"]) as client:
            with self.assertRaisesRegex(RequestError, "missing.jsonc"):
                client.prompt_and_wait("hello")

    def test_a_failed_reply_is_a_result_that_tells_why(self):
        with Client(scripted({"fail": {"status": 400, "body": "no more words"}})) as client:
            result = client.prompt_and_wait("hello")
            self.assertEqual(result.stop_reason, "error")
            self.assertIn("no more words", result.error or "")

    def test_listeners_may_use_the_client(self):
        with Client(ECHO) as client:
            states = []
            client.on("agent_start", lambda _: states.append(client.get_state()["isStreaming"]))
            client.prompt_and_wait("hello")
            self.assertEqual(len(states), 1)

    def test_an_abort_ends_the_wait_for_a_prompt(self):
        with Client(scripted({"blocks": [{"tool": "bash", "arguments": {"command": "sleep 600"}}]})) as client:
            client.on("tool_execution_start", lambda _: client.abort())
            self.assertTrue(client.prompt_and_wait("sleep").aborted)
            client.wait_for_idle(10)

    def test_a_prompt_is_queued_when_it_is_said_how(self):
        wait = {"blocks": [{"tool": "bash", "arguments": {"command": "sleep 0.5"}}]}
        with Client(scripted(wait, {"text": "{{prompt}}", "times": "always"})) as client:
            started = threading.Event()
            client.on("tool_execution_start", lambda _: started.set())
            client.prompt("first")
            self.assertTrue(started.wait(20))
            with self.assertRaises(RequestError):
                client.prompt_and_wait("second")
            self.assertEqual(client.prompt_and_wait("third", streaming_behavior="followUp").text, "third")

    def test_iterators_that_nobody_holds_are_forgotten(self):
        with Client(ECHO) as client:
            for _ in range(3):
                client.events()
            self.assertEqual(len(client._client._queues), 0)

    def test_texts_of_any_size_and_script_arrive_whole(self):
        text = "\u2028 ünïcødé \U0001f9f6 " * 100_000
        with Client(ECHO, args=["--updates", "delta"]) as client:
            self.assertEqual(client.prompt_and_wait(text, timeout=60).text, text)


class Tools(unittest.TestCase):
    def test_the_model_calls_a_function_of_this_program(self):
        calls = []

        def weather(arguments, call):
            calls.append(arguments)
            call.update("looking out of the window")
            return f"It rains in {arguments['city']}."

        with Client(scripted(ASK_WEATHER, {"text": "{{last}}"})) as client:
            updates = []
            client.on("tool_execution_update", lambda event: updates.append(event["partialResult"]["content"][0]["text"]))
            self.assertEqual(client.set_custom_tools([HostTool("weather", "The weather.", WEATHER_SCHEMA, weather)]), ["weather"])
            self.assertEqual(client.prompt_and_wait("Umbrella?").text, "It rains in Bergen.")
            self.assertEqual((calls, updates), ([{"city": "Bergen"}], ["looking out of the window"]))

    def test_what_a_tool_raises_is_what_the_model_reads(self):
        def weather(arguments, call):
            raise ValueError("the window is shut")

        with Client(scripted(ASK_WEATHER, {"text": "{{last}}"})) as client:
            client.set_custom_tools([HostTool("weather", "The weather.", WEATHER_SCHEMA, weather)])
            self.assertEqual(client.prompt_and_wait("Umbrella?").text, "the window is shut")

    def test_a_tool_learns_that_its_run_was_aborted(self):
        cancelled = threading.Event()

        def weather(arguments, call):
            client.abort()
            if call.wait_cancelled(20):
                cancelled.set()

        with Client(scripted(ASK_WEATHER)) as client:
            client.set_custom_tools([HostTool("weather", "The weather.", WEATHER_SCHEMA, weather)])
            self.assertTrue(client.prompt_and_wait("Umbrella?").aborted)
            self.assertTrue(cancelled.wait(20))


class Dialogs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.extension = os.path.join(folder.name, "ask.js")
        with open(self.extension, "w") as file:
            file.write(QUESTION)

    def ask(self, handler):
        told = threading.Event()
        notes = []

        def note(request):
            if request["method"] == "notify":
                notes.append(request["message"])
                told.set()

        with Client(ECHO, args=["--extension", self.extension]) as client:
            client.on_dialog(handler)
            client.on("extension_ui_request", note)
            self.assertTrue(client.prompt_and_wait("/ask").handled)
            self.assertTrue(told.wait(20))
        return notes

    def test_questions_of_extensions_are_answered_by_this_program(self):
        self.assertEqual(self.ask(lambda request: True if request["method"] == "confirm" else "Ada"), ["true Ada"])

    def test_nothing_is_a_cancelled_question(self):
        self.assertEqual(self.ask(lambda request: None), ["false undefined"])


class Life(unittest.TestCase):
    def test_a_program_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ExitError, "could not start no-such-agent"):
            Client(["no-such-agent"]).start()

    def test_an_agent_that_ends_at_once_leaves_its_last_words(self):
        with self.assertRaisesRegex(ExitError, "exit code 3; its last words:\n  no licence"):
            Client(odd_agent("print('no licence', file=sys.stderr); sys.exit(3)")).start()

    def test_an_agent_that_is_never_ready_is_given_up(self):
        client = Client(odd_agent("time.sleep(60)"), start_timeout=0.3, close_patience=0.1)
        with self.assertRaisesRegex(RequestTimeout, "start: no answer within 0.3 s"):
            client.start()
        self.assertFalse(client.is_running)

    def test_an_agent_that_dies_in_the_middle_fails_what_waits(self):
        agent = """
            say(type="ready")
            for frame in frames:
                if frame["type"] == "prompt": say(type="response", id=frame["id"], command="prompt", success=True, data={"disposition": "started"}); say(type="agent_start")
                else: print("out of memory", file=sys.stderr); sys.exit(9)
        """
        with Client(odd_agent(agent)) as client:
            failures = []

            def prompt():
                try:
                    client.prompt_and_wait("hello")
                except ExitError as error:
                    failures.append(str(error))

            waiting = threading.Thread(target=prompt)
            started = threading.Event()
            client.on("agent_start", lambda _: started.set())
            waiting.start()
            self.assertTrue(started.wait(20))
            with self.assertRaisesRegex(ExitError, "get_state: the agent ended with exit code 9; its last words:\n  out of memory"):
                client.get_state()
            waiting.join(20)
            self.assertEqual(len(failures), 1)
            with self.assertRaisesRegex(ExitError, "get_state"):
                client.get_state()
            client.restart()
            self.assertTrue(client.is_running)

    def test_an_agent_that_does_not_answer_is_a_timeout_and_no_end(self):
        with Client(odd_agent("say(type='ready')\nfor frame in frames: pass")) as client:
            with self.assertRaisesRegex(RequestTimeout, "get_state: no answer within 0.2 s"):
                client.get_state(timeout=0.2)
            self.assertTrue(client.is_running)

    def test_a_coroutine_that_waits_for_its_own_client_is_told_so(self):
        async def tool(arguments, call):
            client.get_state()

        with Client(scripted(ASK_WEATHER, {"text": "{{last}}"})) as client:
            client.set_custom_tools([HostTool("weather", "The weather.", WEATHER_SCHEMA, tool)])
            self.assertIn("a coroutine cannot wait for the client", client.prompt_and_wait("Umbrella?").text)

    def test_the_end_is_heard(self):
        codes = []
        with Client(ECHO) as client:
            client.on("exit", codes.append)
        self.assertEqual(codes, [0])
        with self.assertRaisesRegex(ExitError, "this client was closed: the agent ended with exit code 0"):
            client.get_state()

    def test_an_agent_that_will_not_leave_is_made_to(self):
        agent = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(type='ready')\nwhile True: time.sleep(60)"
        client = Client(odd_agent(agent), close_patience=0.2)
        client.start()
        self.assertEqual(client.close(), -9)

    def test_agents_of_the_family_work_without_ready_ids_or_settling(self):
        agent = """
            print("a line that is no frame", flush=True)
            for frame in frames:
                if frame["type"] == "get_state": say(type="response", id=frame["id"], command="get_state", success=True, data={"isStreaming": False})
                elif frame["type"] == "prompt":
                    say(type="response", id=frame["id"], command="prompt", success=True)
                    say(type="agent_start")
                    say(type="agent_end", messages=[{"role": "assistant", "content": [{"type": "text", "text": "done"}], "stopReason": "stop"}])
                else: say(type="response", command=frame["type"], success=False, error="Unknown command: " + frame["type"])
        """
        with Client(odd_agent(agent), wait_for_ready=False) as client:
            self.assertEqual(client.prompt_and_wait("hello").text, "done")
            with self.assertRaisesRegex(RequestError, "Unknown command: get_tree"):
                client.get_tree()
            self.assertIn("stdout: a line that is no frame", client.stderr)


if __name__ == "__main__":
    unittest.main()
