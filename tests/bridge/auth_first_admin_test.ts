import assert from "node:assert/strict";
import {
  type AdminTerminal,
  type AdminVariables,
  decideFirstAdmin,
  noAdminHint,
  promptFirstAdmin,
} from "../../bridge/auth/first_admin.ts";
import { AuthBench } from "../support/auth_support.ts";

const all = { username: "ada", email: "ada@grid.example", password: "a long password" };
const decide = (variables: AdminVariables, more: object = {}) =>
  decideFirstAdmin({
    hasAdmin: false,
    insecure: false,
    stdinIsTerminal: false,
    variables,
    ...more,
  });

class Script implements AdminTerminal {
  readonly told: string[] = [];
  readonly secretQuestions: string[] = [];
  constructor(private readonly answers: (string | null)[]) {}
  ask(_question: string): Promise<string | null> {
    return Promise.resolve(this.answers.shift() ?? null);
  }
  askSecret(question: string): Promise<string | null> {
    this.secretQuestions.push(question);
    return this.ask(question);
  }
  tell(line: string): void {
    this.told.push(line);
  }
}

Deno.test("three variables make an admin; with users, or without authentication, they are not looked at", () => {
  assert.deepEqual(decide(all), { kind: "create", user: { ...all, role: "admin" } });
  assert.deepEqual(decide(all, { hasAdmin: true }), { kind: "none" });
  assert.deepEqual(decide({ username: "ada" }, { hasAdmin: true }), { kind: "none" });
  assert.deepEqual(decide(all, { insecure: true }), { kind: "none" });
  assert.deepEqual(decide({}, { insecure: true }), { kind: "none" });
});

Deno.test("some of the variables are an error, terminal or not, that names the missing ones", () => {
  for (const stdinIsTerminal of [true, false]) {
    const one = decide({ username: "ada" }, { stdinIsTerminal });
    assert.ok(one.kind === "refuse");
    assert.match(
      one.message,
      /GRID_BRIDGE_ADMIN_EMAIL and GRID_BRIDGE_ADMIN_PASSWORD are not set$/,
    );
    const two = decide({ ...all, password: "" }, { stdinIsTerminal });
    assert.ok(two.kind === "refuse");
    assert.match(two.message, /GRID_BRIDGE_ADMIN_PASSWORD is not set$/);
  }
});

Deno.test("a variable that cannot be used is named, its value is not shown", () => {
  const refused = (variables: AdminVariables) => {
    const decision = decide(variables);
    assert.ok(decision.kind === "refuse");
    return decision.message;
  };
  assert.equal(
    refused({ ...all, password: "short" }),
    "GRID_BRIDGE_ADMIN_PASSWORD must be 8 to 1024 bytes of text",
  );
  assert.match(refused({ ...all, username: "a/b" }), /^GRID_BRIDGE_ADMIN_USER must not contain/);
  assert.match(refused({ ...all, email: "nobody" }), /^GRID_BRIDGE_ADMIN_EMAIL must look like/);
});

Deno.test("none of them: a terminal is asked, and without one the start is refused with the way out", () => {
  assert.deepEqual(decide({}, { stdinIsTerminal: true }), { kind: "prompt" });
  assert.deepEqual(decide({}), { kind: "refuse", message: noAdminHint });
  for (
    const part of [
      "GRID_BRIDGE_ADMIN_USER",
      "GRID_BRIDGE_ADMIN_EMAIL",
      "GRID_BRIDGE_ADMIN_PASSWORD",
      "--insecure-no-auth",
    ]
  ) assert.ok(noAdminHint.includes(part), part);
});

Deno.test("the prompt asks again after what cannot be, and the passwords in secret", async () => {
  const script = new Script([
    ...["a/b", "ada"],
    ...["nobody", "ada@grid.example"],
    ...["short", "a long password", "another one", "a long password", "a long password"],
  ]);
  assert.deepEqual(await promptFirstAdmin(script), { ...all, role: "admin" });
  assert.equal(script.secretQuestions.length, 5);
  assert.ok(script.told.some((line) => line.includes("was not the same twice")));
  assert.ok(!script.told.join().includes("long password"));
});

Deno.test("input that ends, or stays wrong, ends the prompt", async () => {
  await assert.rejects(promptFirstAdmin(new Script(["ada", null])), /input ended/);
  await assert.rejects(promptFirstAdmin(new Script(Array(9).fill(""))), /no usable username/);
});

Deno.test("the first admin can sign in, and there is one from then on", async () => {
  await using bench = await AuthBench.open();
  assert.equal(await bench.auth.users.hasAdmin(), false);
  const decision = decide(all);
  assert.ok(decision.kind === "create");
  await bench.auth.users.create(decision.user);
  assert.equal(await bench.auth.users.hasAdmin(), true);
  assert.equal((await bench.login("ada", all.password)).body.user.role, "admin");
});
