/** `deno task check`'s last step: prints every broken rule of the architecture and fails on one. */
import { brokenRules, readSources } from "./arrows.ts";

const broken = brokenRules(await readSources(new URL("..", import.meta.url).pathname));
for (const line of broken) console.error(line);
console.log(broken.length === 0 ? "architecture: no broken rule" : `${broken.length} broken rules`);
Deno.exit(broken.length === 0 ? 0 : 1);
