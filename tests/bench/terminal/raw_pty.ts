/**
 * What most web terminals are: the bytes of a PTY as WebSocket messages, both ways, with permessage-deflate.
 * `raw_pty.ts <port> <cols> <rows> <command…>` serves the first client and ends with it.
 */
import { WebSocketServer } from "ws";

const [port, cols, rows, ...command] = Deno.args;
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: Number(port),
  perMessageDeflate: true,
});
server.on("connection", (socket) => {
  const line = `stty raw -echo rows ${rows} cols ${cols}; exec ${command.join(" ")}`;
  const child = new Deno.Command("script", {
    args: ["-qefc", line, "/dev/null"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  socket.on(
    "message",
    (data) => void writer.write(new Uint8Array(data as Uint8Array)),
  );
  socket.on("close", () => child.kill("SIGHUP"));
  void (async () => {
    for await (const bytes of child.stdout) socket.send(bytes);
    Deno.exit(0);
  })();
});
