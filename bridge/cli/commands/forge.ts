/** What a repo's forge has: `grid issue …`, `grid pr …`, `grid checks`; and `grid sweep`. */
import { displayText } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import { parseIdentifier } from "../../../shared/parse.ts";
import {
  type Checks,
  type Comment,
  issueStates,
  pullStates,
} from "../../../shared/schema/forge.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { UsageFailure } from "../failure.ts";
import { type Cell, type Colour, count, displayLines, facts, table } from "../output.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

const stateColours: Readonly<Record<string, Colour>> = {
  open: "green",
  merged: "cyan",
  success: "green",
  failure: "red",
  timed_out: "red",
  cancelled: "yellow",
  pending: "yellow",
  in_progress: "yellow",
};

const stateCell = (text: string): Cell => {
  const colour = stateColours[text];
  return colour === undefined ? { text } : { text, colour };
};

const repoOf = (text: string) => ({ name: parseIdentifier("repo", text) });

function numberOf(text: string): number {
  if (/^#?[1-9][0-9]{0,14}$/.test(text)) return Number(text.replace("#", ""));
  throw new UsageFailure(`<number> must be a positive whole number, not ${JSON.stringify(text)}`);
}

function oneOf<Choice extends string>(
  flag: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === text);
  if (text !== undefined && choice === undefined) {
    throw new UsageFailure(`--${flag} must be one of ${choices.join(", ")}`);
  }
  return choice;
}

/** Without what was not given, so that the bridge's own defaults hold. */
const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

export async function listIssues(values: Values<"issue ls">, context: Context): Promise<void> {
  const query = given({
    state: oneOf("state", values.state, issueStates),
    label: values.label?.split(",").map((label) => label.trim()).filter((label) => label !== ""),
    limit: values.limit,
  });
  const issues = await context.client.call("listIssues", { params: repoOf(values.repo), query });
  print(
    context,
    issues,
    issues.length === 0 ? "no such issues\n" : table(
      ["ISSUE", "STATE", "LABELS", "AUTHOR", "TITLE"],
      issues.map(({ number, state, labels, author, title }) => [
        `#${number}`,
        stateCell(state),
        labels.join(", "),
        author,
        title,
      ]),
      context,
    ),
  );
}

export async function showIssue(values: Values<"issue show">, context: Context): Promise<void> {
  const params = { ...repoOf(values.repo), number: numberOf(values.number) };
  const issue = await context.client.call("getIssue", { params });
  const head = facts([
    ["issue", `#${issue.number} ${issue.title}`],
    ["state", stateCell(issue.state)],
    ["author", issue.author],
    ["labels", issue.labels.join(", ")],
    ["branches", issue.linkedBranches.join(", ")],
    ["url", issue.url],
  ], context.paint);
  print(context, issue, head + paragraph(issue.body) + commentText(issue.comments));
}

export async function listPulls(values: Values<"pr ls">, context: Context): Promise<void> {
  const query = given({
    state: oneOf("state", values.state, pullStates),
    head: values.head,
    limit: values.limit,
  });
  const pulls = await context.client.call("listPulls", { params: repoOf(values.repo), query });
  print(
    context,
    pulls,
    pulls.length === 0 ? "no such pull requests\n" : table(
      ["PULL", "STATE", "HEAD", "BASE", "AUTHOR", "TITLE"],
      pulls.map(({ number, state, draft, head, base, author, title }) => [
        `#${number}`,
        draft && state === "open" ? { text: "draft", colour: "dim" } : stateCell(state),
        head,
        base,
        author,
        title,
      ]),
      context,
    ),
  );
}

export async function showPull(values: Values<"pr show">, context: Context): Promise<void> {
  const params = { ...repoOf(values.repo), number: numberOf(values.number) };
  const pull = await context.client.call("getPull", { params });
  const files = count(pull.changedFiles, "file");
  const head = facts([
    ["pull", `#${pull.number} ${pull.title}`],
    ["state", stateCell(pull.state)],
    ["author", pull.author],
    ["branches", `${pull.head} into ${pull.base}`],
    ["changes", `+${pull.additions} -${pull.deletions} in ${files}`],
    ["mergeable", pull.mergeable === null ? "not known yet" : pull.mergeable ? "yes" : "no"],
    ["url", pull.url],
  ], context.paint);
  const reviews = pull.reviews.map(({ author, state, body }) =>
    `\n${displayText(author)}: ${displayText(state)}${paragraph(body)}`
  ).join("\n");
  const onLines = pull.reviewComments.map(({ author, path, line, body }) =>
    `\n${displayText(author)} on ${displayText(path)}${line === null ? "" : `:${line}`}` +
    paragraph(body)
  ).join("\n");
  print(
    context,
    pull,
    head + paragraph(pull.body) + commentText(pull.comments) + reviews + onLines,
  );
}

/** `<repo>`, with `--ref` or `--pull`; or `<repo>/<workspace>`, whose branch is meant. */
export async function showChecks(values: Values<"checks">, context: Context): Promise<void> {
  const { params, query } = await checksTarget(values, context);
  if (values.logs) {
    const logs = await context.client.call("getFailedLogs", {
      params,
      query: { ...query, ...given({ tail: values.tail }) },
    });
    const text = logs.map(({ name, url, log }) =>
      `${context.paint("bold", displayText(name))}  ${displayText(url ?? "")}\n` +
      `${displayLines(log)}\n`
    ).join("\n");
    return print(context, logs, text === "" ? "no job failed\n" : text);
  }
  const checks = await context.client.call("getChecks", { params, query });
  print(context, checks, checksText(checks, context));
}

async function checksTarget(values: Values<"checks">, context: Context) {
  const [repo = "", name, ...more] = values.target.split("/");
  if (more.length > 0) throw new UsageFailure("<target> is <repo> or <repo>/<workspace>");
  const params = repoOf(repo);
  if (values.ref !== undefined && values.pull !== undefined) {
    throw new UsageFailure("--ref and --pull exclude each other: give one of them");
  }
  const named = given({ ref: values.ref, pull: values.pull }) as { ref?: string; pull?: number };
  if (Object.keys(named).length > 0) return { params, query: named };
  if (name === undefined) {
    throw new UsageFailure("say of what: --ref or --pull, or a workspace as <repo>/<workspace>");
  }
  const workspace = { repo: params.name, name: parseIdentifier("workspace", name) };
  const { branch } = await context.client.call("getWorkspace", { params: workspace });
  return { params, query: { ref: branch } };
}

function checksText({ ref, conclusion, checks }: Checks, context: Context): string {
  if (checks.length === 0) return `no checks on ${displayText(ref)}\n`;
  const head = facts([["ref", ref], ["checks", stateCell(conclusion ?? "none")]], context.paint);
  const rows = checks.map(({ name, status, conclusion, url }) => [
    name,
    stateCell(conclusion ?? status),
    url ?? "",
  ]);
  return `${head}\n${table(["CHECK", "STATE", "URL"], rows, context)}`;
}

export async function sweep(_: Values<"sweep">, context: Context): Promise<void> {
  const result = await context.client.call("sweep", {}, { timeoutMs: limits.shipDeleteMs });
  const { checked, destroyed, blocked, skipped, forgotten } = result;
  const parts = [
    `${checked} checked`,
    `${destroyed} deleted`,
    `${blocked} blocked by work that is not pushed`,
    `${skipped} left for later`,
    `${forgotten} forgotten`,
  ];
  const next = blocked > 0 ? "next: `grid show <workspace>` tells what blocks it\n" : "";
  print(context, result, `${parts.join(", ")}\n${next}`);
}

const paragraph = (text: string) =>
  text.trim() === "" ? "\n" : `\n\n${displayLines(text.trim())}\n`;

const commentText = (comments: readonly Comment[]) =>
  comments.map(({ author, createdAt, body }) =>
    `\n${displayText(author)}, ${displayText(createdAt)}:${paragraph(body)}`
  ).join("");
