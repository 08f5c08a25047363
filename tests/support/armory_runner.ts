/**
 * One ship's armory as a process, to be killed: `armory_runner.ts <root> <bridge url> <step> <count>` ends
 * itself by SIGKILL when `step` comes for the `count`th time. Prints the state when it gets to the end. With
 * the bridge url `-` it only starts.
 */
import { ShipHome } from "./armory_support.ts";

const [root = "", bridgeUrl = "-", deadly = "", count = "1"] = Deno.args;
let left = Number(count);
const home = ShipHome.at(root);
await using armory = home.armory({
  onStep: (step) => {
    if (step !== deadly || --left > 0) return;
    Deno.kill(Deno.pid, "SIGKILL");
    // The signal may take a moment, in which nothing more may happen.
    for (;;);
  },
});
await armory.start();
if (bridgeUrl !== "-") {
  await armory.sync({ bridgeUrl, revision: "" }).catch((thrown: Error) => {
    console.error(thrown.message);
    Deno.exitCode = 1;
  });
}
console.log(JSON.stringify(armory.state));
