"""Sessions of a real server, over connections that are cut."""

import asyncio
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import unittest

from bowline import AsyncClient, AsyncServerClient, Client, ExitError, HostTool, RequestError, ServerClient, ServerError

from .server import CuttingProxy, Server, until
from .support import odd_server

class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.proxy = CuttingProxy(self.server)
        self.addCleanup(self.proxy.close)

    def connect(self, session, **options):
        url = options.pop("url", self.proxy.url)
        client = Client.connect(url, token=options.pop("token", self.server.token), session=session, **options)
        self.addCleanup(client.close)
        # What is said at the beginning has been said: the next bytes answer the test.
        client.get_state()
        return client

    def test_a_session_is_a_client_like_any_other_and_lives_on(self):
        call = {"blocks": [{"tool": "add", "arguments": {"a": 2, "b": 3}}]}
        session = self.server.session(call, {"text": "five"}, {"text": "again"}, name="python")
        with Client.connect(self.server.url, token=self.server.token, session=session, name="first") as client:
            schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
            client.set_custom_tools([HostTool("add", "Adds.", schema, lambda given, _: str(given["a"] + given["b"]))])
            self.assertEqual(client.prompt_and_wait("2 + 3").text, "five")
            state = client.get_state()
            self.assertEqual(state["sessionName"], "python")
        self.assertEqual(client.exit_code, 0)
        with self.assertRaises(ExitError):
            client.get_state()
        # The seat was given back: the next one need not wait.
        with self.connect(state["sessionId"]) as client:
            self.assertEqual(client.prompt_and_wait("more").text, "again")

    def test_wrong_servers_tokens_and_sessions_are_refused_with_words(self):
        first = self.connect(self.server.session({"text": "hello"}), name="driver")
        session = first.get_state()["sessionId"]

        def refusal(session, **options):
            with self.assertRaises(ServerError) as caught:
                self.connect(session, **options)
            return caught.exception

        self.assertEqual(refusal(session, token="wrong").status, 401)
        self.assertEqual(refusal({"cwd": "/"}, token="wrong").status, 401)
        self.assertEqual(refusal("00000000-0000-7000-8000-000000000000").code, "no_session")
        self.assertEqual(refusal({"cwd": "/"}).code, "outside_roots")
        taken = refusal(session)
        self.assertEqual((taken.status, taken.code), (409, "seat_taken"))
        self.assertIn("driver", str(taken))
        self.assertIn("bowline serve", str(refusal(session, url="http://127.0.0.1:1")))
        self.assertIn("bowline serve", str(refusal(session, url="unix:/nowhere/at.all")))
        for url in ("ftp://example", "127.0.0.1:7717"):
            with self.assertRaisesRegex(ValueError, "http://127.0.0.1:7717"):
                self.connect(session, url=url)
        with self.assertRaisesRegex(ValueError, "token="):
            self.connect(session, url=f"{self.server.url}/?token=x")
        with self.assertRaisesRegex(ValueError, "write"):
            self.connect(session, mode="drive")
        # Readers are always welcome, and may not drive.
        reader = self.connect(session, mode="read")
        with self.assertRaises(RequestError) as caught:
            reader.prompt("no")
        self.assertEqual(caught.exception.code, "seat_taken")
        lost = threading.Event()
        first.on("seat", lambda seat: lost.set() if seat.get("by") == "other" else None)
        second = self.connect(session, name="other", takeover=True)
        self.assertTrue(lost.wait(45))
        self.assertEqual(second.prompt_and_wait("hi").text, "hello")

    def test_a_connection_that_is_cut_comes_back_and_nothing_is_lost_or_done_twice(self):
        replies = [{"blocks": [{"tool": "slow", "arguments": {}}]}, {"repeat": {"text": "word ", "count": 40}, "pieceDelayMs": 10}, {"text": "second"}]
        client = self.connect(self.server.session(*replies))
        witness = self.connect(client.get_state()["sessionId"], url=self.server.url, mode="read")
        frames, all_frames = [], []
        client.on("event", frames.append)
        witness.on("event", all_frames.append)
        runs, running, finish = [], threading.Event(), threading.Event()

        def slow(_, call):
            runs.append(call.id)
            running.set()
            finish.wait(60)
            return "done"

        client.set_custom_tools([HostTool("slow", "Waits.", {"type": "object"}, slow)])
        results = []
        waiting = threading.Thread(target=lambda: results.append(client.prompt_and_wait("go")))
        waiting.start()
        self.assertTrue(running.wait(45))
        self.proxy.cut()
        # The answer is given while there is no connection.
        finish.set()
        until("words arrive", lambda: any(frame["type"] == "message_update" for frame in frames))
        self.proxy.cut()
        waiting.join(60)
        self.assertEqual(results[0].text, "word " * 40)
        self.proxy.cut_once(before=True)
        self.assertEqual(client.get_state()["messageCount"], 4)
        self.assertEqual(client.prompt_and_wait("more").text, "second")
        self.assertEqual(len(runs), 1)
        self.assertEqual(self.proxy.cuts, 3)
        until("the witness saw both runs", lambda: sum(frame["type"] == "agent_settled" for frame in all_frames) == 2)
        until("so did the client", lambda: sum(frame["type"] == "agent_settled" for frame in frames) == 2)
        kept = [f"{frame['seq']} {frame['type']}" for frame in all_frames if "seq" in frame and is_kept(frame)]
        heard = [f"{frame['seq']} {frame['type']}" for frame in frames if "seq" in frame and is_kept(frame)]
        self.assertEqual(heard, kept)

    def test_a_prompt_whose_answer_was_lost_is_not_run_twice(self):
        client = self.connect(self.server.session({"text": "only once"}, {"text": "twice"}))
        starts = []
        client.on("agent_start", starts.append)
        self.proxy.cut_once(before=True)
        self.assertEqual(client.prompt_and_wait("go").text, "only once")
        client.wait_for_idle(45)
        self.assertEqual(len(starts), 1)
        # The same key, said by the host: the first outcome again, and no run.
        first = client.prompt("again", key="mine")
        client.wait_for_idle(45)
        second = client.prompt("again", key="mine")
        self.assertTrue(second["duplicate"])
        self.assertEqual(second["runId"], first["runId"])
        with self.assertRaises(RequestError) as caught:
            client.prompt("other", key="mine")
        self.assertEqual(caught.exception.code, "key_reused")

    def test_an_approval_that_was_lost_on_its_way_is_sent_again(self):
        script = [{"blocks": [{"tool": "bash", "arguments": {"command": "echo hi"}}]}, {"text": "approved"}]
        client = self.connect(self.server.session(*script))
        client.set_permission_mode("ask")
        asked = []

        def decide(request):
            asked.append(request["id"])
            # The answer is sent, and never arrives.
            self.proxy.cut_once(before=False)
            return {"decision": "allow"}

        client.on_permission(decide)
        result = client.prompt_and_wait("go", timeout=60)
        self.assertEqual(result.text, "approved")
        outputs = [message["content"][0]["text"].strip() for message in result.messages if message["role"] == "toolResult"]
        self.assertEqual(outputs, ["hi"])
        self.assertEqual(len(asked), 1)
        self.assertEqual(self.proxy.cuts, 1)

    def test_a_command_that_goes_to_another_session_is_done_once_over_a_cut(self):
        client = self.connect(self.server.session({"text": "one"}, {"text": "two"}))
        client.prompt_and_wait("go")
        server = ServerClient(self.server.url, token=self.server.token)
        before = {session["id"] for session in server.sessions()["sessions"]}
        answers = []
        self.proxy.is_deaf = True
        thread = threading.Thread(target=lambda: answers.append(client.new_session()))
        thread.start()
        opened = until("the agent went on", lambda: {session["id"] for session in server.sessions()["sessions"]} - before)
        self.proxy.is_deaf = False
        self.proxy.cut()
        thread.join(45)
        self.assertEqual(answers, [{"cancelled": False, "duplicate": True}])
        self.assertEqual({client.get_state()["sessionId"]}, opened)
        self.assertEqual(client.prompt_and_wait("again").text, "two")

    def test_the_endpoints_as_methods(self):
        server = ServerClient(self.server.url, token=self.server.token)
        self.assertIn("version", server.info())
        body = self.server.session({"text": "hello"}, name="by hand")
        session = server.create(body, key="python-once")["id"]
        self.assertEqual(server.create(body, key="python-once")["id"], session)
        answer = server.prompt(session, "hi", wait_seconds=45, key="first")
        self.assertEqual((answer["result"]["status"], answer["text"]), ("completed", "hello"))
        self.assertEqual([found["id"] for found in server.sessions(q="by hand")["sessions"]], [session])
        response = server.command(session, "get_state")
        self.assertEqual((response["success"], response["data"]["messageCount"]), (True, 2))
        with server.events(session, after=0) as frames:
            kept = [frame for frame in frames if "seq" in frame]
        self.assertEqual([frame["type"] for frame in kept if frame["type"] == "run_result"], ["run_result"])
        self.assertIn("message", [entry["type"] for entry in server.entries(session, tail=5)["entries"]])
        self.assertIn("<html", server.export_html(session))
        self.assertEqual(server.artifacts(session)["artifacts"], [])
        self.assertIn("bowline_sessions", server.metrics())
        with server.events(session, after=kept[-1]["seq"], follow=True) as frames:
            threading.Timer(0.1, frames.close).start()
            # A wait for frames that do not come ends with it.
            self.assertEqual([frame for frame in frames if frame.get("type") == "agent_start"], [])
        self.assertEqual(server.stop(session)["state"], "asleep")
        self.assertIn(server.start(session)["state"], ("starting", "idle"))
        server.remove(session)
        with self.assertRaises(ServerError) as caught:
            server.session(session)
        self.assertEqual((caught.exception.status, caught.exception.code), (410, "session_deleted"))
        with self.assertRaises(ServerError) as caught:
            server.artifact("nothing", "a/b")
        self.assertEqual(caught.exception.code, "no_session")

    def test_the_endpoints_as_coroutines(self):
        async def talk():
            server = AsyncServerClient(self.server.url, token=self.server.token)
            session = (await server.create(self.server.session({"text": "hello"}, {"text": "hello"})))["id"]
            await server.prompt(session, "hi", wait_seconds=45)
            # The frames of the first run are kept; the second one begins while they are read.
            results = 0
            frames = server.events(session, after=0, follow=True)
            async for frame in frames:
                if frame["type"] == "run_result":
                    results += 1
                    if results == 1:
                        await server.prompt(session, "again")
                    else:
                        break
            await frames.aclose()
            self.assertEqual((await server.command(session, "get_state"))["data"]["messageCount"], 4)
            self.assertEqual((await server.sessions(q=session))["sessions"][0]["id"], session)
            await server.remove(session)
            return results

        self.assertEqual(asyncio.run(asyncio.wait_for(talk(), 60)), 2)

    def test_a_question_that_was_open_before_the_client_came_is_asked_when_it_has_a_handler(self):
        script = [{"blocks": [{"tool": "bash", "arguments": {"command": "echo hi"}}]}, {"text": "approved"}]
        first = self.connect(self.server.session(*script))
        first.set_permission_mode("ask")
        asked = threading.Event()

        def hesitate(_):
            asked.set()
            is_over.wait(45)
            return {"decision": "deny"}

        is_over = threading.Event()
        self.addCleanup(is_over.set)
        first.on_permission(hesitate)
        first.prompt("go")
        self.assertTrue(asked.wait(45))
        with self.connect(first.get_state()["sessionId"], mode="read") as second:
            second.on_permission(lambda request: {"decision": "allow"})
            first.wait_for_idle(45)
            self.assertEqual(second.get_last_assistant_text()["text"], "approved")

    def test_a_session_that_is_deleted_ends_the_client_and_a_cut_does_not(self):
        ended = threading.Event()
        client = self.connect(self.server.session())
        client.on("exit", lambda code: ended.set())
        session = client.get_state()["sessionId"]
        self.proxy.cut()
        self.assertEqual(client.get_state()["sessionId"], session)
        self.assertFalse(ended.is_set())
        api = client._client._target.address
        api.ask("POST", f"/v1/sessions/{session}/stop", {})
        until("it sleeps", lambda: api.ask("GET", f"/v1/sessions/{session}")["state"] == "asleep")
        api.ask("DELETE", f"/v1/sessions/{session}")
        self.assertTrue(ended.wait(45))
        with self.assertRaisesRegex(ExitError, "deleted") as caught:
            client.get_state()
        self.assertEqual(caught.exception.__cause__.code, "session_deleted")

    def test_a_connection_that_does_not_come_back_ends_with_words(self):
        client = self.connect(self.server.session(), reconnect_timeout=0.3)
        self.proxy.is_down = True
        self.proxy.cut()
        with self.assertRaisesRegex(ExitError, "did not come back within 0.3 s"):
            client.bash("true")

    def test_long_and_odd_texts_pass_and_what_is_too_long_is_refused(self):
        client = self.connect(self.server.session({"text": "x" * 300_000 + "äöü🎈"}))
        self.assertTrue(client.prompt_and_wait("y" * 200_000 + "🎈 \udc80").text.endswith("äöü🎈"))
        with self.assertRaises(RequestError) as caught:
            client.prompt("z" * (33 * 1024 * 1024))
        self.assertEqual(caught.exception.code, "too_long")
        self.assertEqual(client.get_state()["messageCount"], 2)

    def test_many_tasks_talk_at_once_and_the_client_can_be_awaited_or_entered(self):
        async def talk():
            address = {"token": self.server.token, "session": self.server.session({"text": "hello"})}
            client = await AsyncClient.connect(self.proxy.url, **address)
            try:
                self.assertEqual((await client.prompt_and_wait("hi")).text, "hello")
                asked = [asyncio.ensure_future(client.get_state()) for _ in range(100)]
                await asyncio.sleep(0)
                self.proxy.cut()
                states = await asyncio.gather(*asked)
                session = states[0]["sessionId"]
                self.assertEqual({state["sessionId"] for state in states}, {session})
                # The answers may have come before the cut: without a connection there is no goodbye, and the seat stays taken for a while.
                await client.get_state()
            finally:
                await client.close()
            async with AsyncClient.connect(self.server.url, token=self.server.token, session=session) as client:
                self.assertEqual((await client.get_state())["messageCount"], 2)
                await client.restart()
                self.assertEqual((await client.get_state())["sessionId"], session)

        asyncio.run(talk())


class Killed(unittest.TestCase):
    def test_a_server_that_is_killed_and_started_again_is_found_again(self):
        server = Server()
        self.addCleanup(server.stop)
        proxy = CuttingProxy(server)
        self.addCleanup(proxy.close)
        session = server.session({"repeat": {"text": "slowly ", "count": 400}, "pieceDelayMs": 50}, {"text": "after"})
        with Client.connect(proxy.url, token=server.token, session=session) as client:
            frames = []
            client.on("event", frames.append)
            client.prompt("go")
            until("it streams", lambda: any(frame["type"] == "message_update" for frame in frames))
            server.kill()
            server.start()
            until("the run has ended", lambda: any(frame["type"] == "agent_settled" for frame in frames))
            client.prompt_and_wait("more")
            until("both are told", lambda: sum(frame["type"] == "agent_settled" for frame in frames) == 2)
            numbers = [frame["seq"] for frame in frames if "seq" in frame and frame["type"] != "snapshot"]
            self.assertEqual(numbers, sorted(set(numbers)))


class Ways(unittest.TestCase):
    """The same over a unix socket and over TLS."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bowline-py-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def check(self, url, **options):
        session = self.server.session({"text": "heard"}, {"text": "again"})
        with Client.connect(url, token=self.server.token, session=session, **options) as client:
            self.assertEqual(client.prompt_and_wait("hi").text, "heard")
            session_id = client.get_state()["sessionId"]
        server = ServerClient(url, token=self.server.token, **options)
        until("the seat is free", lambda: server.session(session_id)["seat"] is None)
        self.assertEqual(server.prompt(session_id, "more", wait_seconds=45)["text"], "again")

    def test_a_unix_socket(self):
        path = os.path.join(self.folder, "serve.sock")
        self.server = Server("--socket", path)
        self.addCleanup(self.server.stop)
        self.check(f"unix:{path}")
        with self.assertRaisesRegex(ServerError, "no server at unix:/nothing"):
            ServerClient("unix:/nothing/there.sock").info()

    @unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificate")
    def test_tls(self):
        cert, key = os.path.join(self.folder, "cert.pem"), os.path.join(self.folder, "key.pem")
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, "-keyout", key, "-out", cert]
        subprocess.run(made, check=True, capture_output=True)
        self.server = Server("--tls-cert", cert, "--tls-key", key)
        self.addCleanup(self.server.stop)
        self.assertTrue(self.server.url.startswith("https://"))
        self.check(self.server.url, ssl_context=ssl.create_default_context(cafile=cert))
        # A certificate that is not trusted is not talked to.
        with self.assertRaisesRegex(ServerError, "(?i)certificate"):
            ServerClient(self.server.url, token=self.server.token).info()
        with self.assertRaisesRegex(ServerError, "(?i)certificate"):
            Client.connect(self.server.url, token=self.server.token, session="s", start_timeout=45)


class Odd(unittest.TestCase):
    """Servers that are none, or that speak in unusual ways."""

    def test_what_is_not_a_server_is_refused(self):
        for answer, words in (
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200: hi"),
            (b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found", "404: not found"),
            (b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: wrong\r\n\r\n", "502"),
            (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "The server answered"),
            (b"", "There is no server"),
        ):
            with self.subTest(words), odd_server(lambda _, end, answer=answer: end.sendall(answer)) as url:
                with self.assertRaisesRegex(ServerError, words):
                    Client.connect(url, token="t", session="s", start_timeout=45)

    def test_fragments_pings_and_frames_of_every_length_are_read(self):
        heard, notes, is_listening = [], [], threading.Event()

        def talk(handshake, end):
            end.sendall(handshake)
            ready = b'{"type":"ready","asOf":0}'
            end.sendall(frame(1, ready[:5], is_last=False) + frame(9, b"are you there") + frame(0, b"", is_last=False) + frame(0, ready[5:]))
            heard.append(unmasked(end))
            self.assertIn(b"subscribe", unmasked(end)[1])
            is_listening.wait(45)
            for size in (0, 100, 200, 70_000):
                whole = frame(1, b'{"type":"note","text":"%s"}' % (b"x" * size))
                for start in range(0, len(whole), 1000):
                    end.sendall(whole[start : start + 1000])
            end.sendall(frame(1, b"no json") + frame(1, b"[1]") + frame(1, b'{"type":"note","text":"last"}'))
            end.sendall(frame(8, b"\x03\xe9gone"))
            heard.append(unmasked(end))

        with odd_server(talk) as url:
            client = Client.connect(url, token="t", session="s", start_timeout=45)
            self.addCleanup(client.close)
            client.on("note", lambda note: notes.append(note["text"]))
            is_listening.set()
            until("it is over", lambda: not client.is_running)
            until("all is told", lambda: notes[-1:] == ["last"])
        self.assertEqual([len(text) for text in notes], [0, 100, 200, 70_000, 4])
        self.assertEqual(heard[0], (10, b"are you there"))
        self.assertEqual(heard[1], (8, b"\x03\xe9"))

    def test_a_failure_that_a_cut_took_along_is_told_by_the_result_of_the_run(self):
        result = {"type": "run_result", "seq": 5, "runId": "r_1", "status": "error", "error": {"kind": "refused", "message": "No key for it.", "code": "no_key"}}
        connections = []

        def talk(handshake, end):
            end.sendall(handshake)
            connections.append(end)
            end.sendall(frame(1, b'{"type":"ready","asOf":1}'))
            if len(connections) > 1:
                end.sendall(frame(1, json.dumps(result).encode()))
                while True:
                    unmasked(end)
            while True:
                heard = json.loads(unmasked(end)[1])
                if heard["type"] == "prompt":
                    data = {"disposition": "started", "runId": "r_1"}
                    end.sendall(frame(1, json.dumps({"type": "response", "id": heard["id"], "command": "prompt", "success": True, "data": data}).encode()))
                    return

        with odd_server(talk) as url:
            with Client.connect(url, token="t", session="s", start_timeout=45) as client, self.assertRaisesRegex(RequestError, "No key for it.") as refused:
                client.prompt_and_wait("go", timeout=45)
        self.assertEqual(refused.exception.code, "no_key")

    def test_a_frame_that_a_server_may_not_send_ends_the_connection(self):
        for bad, code in (
            (frame(2, b"binary"), 1003),
            (frame(1, b"\xff\xfe"), 1007),
            (frame(0, b"from nowhere"), 1002),
            (frame(3, b""), 1002),
            (b"\xc1\x00", 1002),
            (b"\x81\x80abcd", 1002),
            (b"\x09\x00", 1002),
            (b"\x81\x7f" + (1 << 40).to_bytes(8, "big"), 1009),
        ):
            said = []

            def talk(handshake, end, bad=bad, said=said):
                end.sendall(handshake + frame(1, b'{"type":"ready"}') + bad)
                self.assertIn(b"subscribe", unmasked(end)[1])
                said.append(unmasked(end))

            with self.subTest(bad), odd_server(talk) as url:
                client = Client.connect(url, token="t", session="s", start_timeout=45)
                try:
                    until("it says why", lambda said=said: said)
                finally:
                    client.close()
                self.assertEqual((said[0][0], int.from_bytes(said[0][1][:2], "big")), (8, code))


def is_kept(event):
    return not event["type"].endswith("_update") and event["type"] != "snapshot"


def frame(kind, payload, is_last=True):
    size = len(payload)
    head = bytes([(0x80 if is_last else 0) | kind])
    if size < 126:
        return head + bytes([size]) + payload
    if size < 1 << 16:
        return head + b"\x7e" + size.to_bytes(2, "big") + payload
    return head + b"\x7f" + size.to_bytes(8, "big") + payload


def unmasked(end):
    """The next short frame of the client."""
    head = exactly(end, 6)
    payload = exactly(end, head[1] & 0x7F)
    return head[0] & 0x0F, bytes(byte ^ head[2 + index % 4] for index, byte in enumerate(payload))


def exactly(end, size):
    data = b""
    while len(data) < size:
        piece = end.recv(size - len(data))
        if not piece:
            raise ConnectionError("the client is gone")
        data += piece
    return data
