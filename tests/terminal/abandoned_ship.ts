/** A process that holds a terminal of a session open until it is killed; started by `abandoned_test.ts`. */
import { sessionName, TestClient } from "./terminal_fixture.ts";
import { systemClock } from "../../shared/clock.ts";
import { CommandLane } from "../../shared/host/command.ts";
import { silentLog } from "../../shared/log.ts";
import { Terminals } from "../../ship/terminal/terminals.ts";
import { socketPair } from "../support/memory_socket.ts";

const [folder = "", tmux = "", script = "", timeout = "", stty = ""] = Deno.args;
const lane = new CommandLane({
  programs: { sh: "/bin/sh", tmux, stty },
  timeoutPath: timeout,
  environment: { PATH: "/usr/bin:/bin", HOME: folder, LANG: "C.UTF-8", TMUX_TMPDIR: folder },
  concurrencyMax: 10,
  queueMax: 10,
});
const terminals = new Terminals({
  host: { lane },
  socketName: "grid-ship",
  tmuxPath: tmux,
  scriptPath: script,
  clock: systemClock,
  log: silentLog,
});
const [socket, server] = socketPair();
terminals.serve(server, sessionName("e"));
const client = new TestClient(socket);
client.init();
await client.shows("$");
// A flood brings the side client up too.
client.type("timeout 2 yes flood\r");
await client.shows("flood");
await new Promise((resolve) => setTimeout(resolve, 500));
console.log("holding");
await new Promise((resolve) => setTimeout(resolve, 60_000));
