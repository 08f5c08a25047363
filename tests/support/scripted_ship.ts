/** A supported double of the ship daemon for the launcher: it listens, tells its name, and can die. */
import { listen } from "../../shared/host/listen.ts";
import { onStop } from "../../shared/host/lifecycle.ts";

const flag = (name: string) =>
  Deno.args.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);

if (flag("name") === "broken") {
  console.error(JSON.stringify({ level: "error", message: "the grid directory is a file" }));
  Deno.exit(1);
}
const stopped = Promise.withResolvers<void>();
using _stop = onStop(() => stopped.resolve());
const listener = await listen({
  hostname: "127.0.0.1",
  port: Number(flag("port") ?? "0"),
  fetch: (request) => {
    if (new URL(request.url).pathname === "/die") {
      console.error(JSON.stringify({ level: "error", message: "told to die" }));
      Deno.exit(3);
    }
    return new Response(flag("name") ?? "local");
  },
});
console.log(`listening on ${listener.url}`);
await stopped.promise;
await listener.shutdown();
