/** `grid repo …` */
import { redactUrl } from "../../../shared/log.ts";
import { parseIdentifier } from "../../../shared/parse.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { table } from "../output.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

const shaCharacters = 10;

export async function listRepos(_: Values<"repo ls">, context: Context): Promise<void> {
  const repos = await context.client.call("listRepos", {});
  print(
    context,
    repos,
    repos.length === 0 ? "no repos yet: `grid repo add <name> <url>` registers one\n" : table(
      ["REPO", "PROVIDER", "URL"],
      // A clone URL may carry a credential; a table is shown to whoever looks over the shoulder.
      repos.map(({ name, provider, url }) => [name, provider, redactUrl(url)]),
      context,
    ),
  );
}

export async function addRepo(
  { name, url, provider }: Values<"repo add">,
  context: Context,
): Promise<void> {
  parseIdentifier("repo", name);
  const body = { name, url, ...(provider === undefined ? {} : { provider }) };
  const repo = await context.client.call("createRepo", { body });
  print(context, repo, `registered ${repo.name}\nnext: grid new ${repo.name} <name>\n`);
}

export async function removeRepo({ name }: Values<"repo rm">, context: Context): Promise<void> {
  const params = { name: parseIdentifier("repo", name) };
  const reply = await context.client.call("removeRepo", { params });
  print(context, reply, `forgot ${name}; workspaces cloned from it stay\n`);
}

export async function listBranches(
  { name }: Values<"repo branches">,
  context: Context,
): Promise<void> {
  const params = { name: parseIdentifier("repo", name) };
  const branches = await context.client.call("listBranches", { params });
  print(
    context,
    branches,
    branches.length === 0 ? `${name} has no branches\n` : table(
      ["COMMIT", "BRANCH"],
      branches.map((branch) => [
        { text: branch.sha.slice(0, shaCharacters), colour: "yellow" },
        branch.name,
      ]),
      context,
    ),
  );
}
