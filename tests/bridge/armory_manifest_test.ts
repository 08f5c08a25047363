import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { armoryHandlers } from "../../bridge/armory/routes.ts";
import { ArmoryDistribution } from "../../bridge/armory/distribution.ts";
import { parseDotfileMap } from "../../bridge/armory/manifest.ts";
import { Armory } from "../../bridge/armory/serve.ts";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { systemClock } from "../../shared/clock.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { inProcessConnection } from "../../shared/http/connection.ts";
import { router } from "../../shared/http/router.ts";
import { limits } from "../../shared/limits.ts";
import { silentLog } from "../../shared/log.ts";
import { armoryManifestSchema } from "../../shared/schema/armory.ts";
import { AuthBench } from "../support/auth_support.ts";
import { failureOf } from "../support/grid_support.ts";
import type { ShipName } from "../../shared/ids.ts";

/** An armory's directory, not yet made. */
class Shelf implements AsyncDisposable {
  readonly armory: Armory;
  private constructor(readonly root: string) {
    this.armory = this.another();
  }
  static async make(): Promise<Shelf> {
    return new Shelf(await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-shelf-" })));
  }
  get directory(): string {
    return join(this.root, "armory");
  }
  /** One that remembers nothing. */
  another(): Armory {
    return new Armory({ directory: this.directory, clock: systemClock, log: silentLog });
  }
  at(path: string): string {
    return join(this.directory, path);
  }
  async put(path: string, contents: string | Uint8Array, mode = 0o644): Promise<void> {
    await Deno.mkdir(dirname(this.at(path)), { recursive: true });
    if (typeof contents === "string") await Deno.writeTextFile(this.at(path), contents);
    else await Deno.writeFile(this.at(path), contents);
    await Deno.chmod(this.at(path), mode);
  }
  async revision(): Promise<string> {
    const { revision } = await this.armory.manifest();
    assert.equal(revision, (await this.another().manifest()).revision, "memory must not matter");
    return revision;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

Deno.test("no armory is an empty manifest with a revision", async () => {
  await using shelf = await Shelf.make();
  const manifest = armoryManifestSchema.parse(await shelf.armory.manifest());
  assert.deepEqual(manifest.entries, []);
  assert.deepEqual(manifest.dotfileMap, {});
});

Deno.test("entries: sorted, modes normalised; links, .git, .DS_Store, strangers left out", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/b/SKILL.md", "b", 0o600);
  await shelf.put("skills/a-b/x", "", 0o750);
  await shelf.put("skills/a/x", "x");
  await shelf.put("plugins/.git/config", "no");
  await shelf.put("plugins/p/.git", "gitdir: elsewhere");
  await shelf.put("plugins/.DS_Store", "no");
  await shelf.put("plugins/.gitignore", "yes");
  await shelf.put("dotfiles/new\nline", "no");
  await shelf.put("dotfiles/back\\slash", "no");
  await shelf.put("other/file", "no");
  await shelf.put("README.md", "no");
  await Deno.symlink(shelf.at("skills/a/x"), shelf.at("skills/link"));
  await Deno.symlink(shelf.at("skills/a"), shelf.at("skills/folder"));
  const { entries } = armoryManifestSchema.parse(await shelf.armory.manifest());
  assert.deepEqual(
    entries.map(({ path, section, size, mode }) => [path, section, size, mode.toString(8)]),
    [
      ["plugins/.gitignore", "plugins", 3, "644"],
      ["skills/a-b/x", "skills", 0, "755"],
      ["skills/a/x", "skills", 1, "644"],
      ["skills/b/SKILL.md", "skills", 1, "644"],
    ],
  );
  assert.equal(
    entries[1]!.sha256,
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
});

Deno.test("the revision changes with contents, mode, path and map, and with nothing else", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/a/SKILL.md", "text");
  await shelf.put("dotfiles/conf", "x");
  const seen = new Set([await shelf.revision()]);
  const changed = async (what: string) => {
    const revision = await shelf.revision();
    assert.ok(!seen.has(revision), `${what} did not change the revision`);
    seen.add(revision);
  };
  const same = async (what: string) => {
    const before = [...seen].at(-1);
    assert.equal(await shelf.revision(), before, `${what} changed the revision`);
  };
  await Deno.utime(shelf.at("skills/a/SKILL.md"), 1_000_000, 1_000_000);
  await same("a timestamp");
  await shelf.put("skills/.DS_Store", "x");
  await shelf.put("notes.txt", "x");
  await same("what is not listed");
  await Deno.chmod(shelf.at("skills/a/SKILL.md"), 0o600);
  await same("a mode that normalises alike");
  await shelf.put("skills/a/SKILL.md", "tExt");
  await changed("contents of the same size");
  await Deno.chmod(shelf.at("skills/a/SKILL.md"), 0o700);
  await changed("the mode");
  await Deno.rename(shelf.at("skills/a"), shelf.at("skills/b"));
  await changed("the path");
  await shelf.put("dotfile-map.json", '{"conf": "~/.conf", "more": "~/.more"}');
  await changed("the map");
  await shelf.put("dotfile-map.json", '{ "more":"~/.more","conf":"~/.conf" }');
  await same("the map's own order and spaces");
  await Deno.remove(shelf.at("dotfiles/conf"));
  await changed("a removal");
});

Deno.test("a change that keeps size and timestamps is seen", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/a", "one");
  await Deno.utime(shelf.at("skills/a"), 1_000_000, 1_000_000);
  const before = await shelf.revision();
  await shelf.put("skills/a", "two");
  await Deno.utime(shelf.at("skills/a"), 1_000_000, 1_000_000);
  assert.notEqual(await shelf.revision(), before);
});

Deno.test("a malformed map fails the manifest with a line per entry [invalidDotfileMap]", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/a", "x");
  const map = {
    "../up": "~/up",
    "number": 3,
    "relative": "somewhere",
    "fine": "~/.fine",
    "twice": "~/.fine",
    "root": "~root/x",
    "dots": "/etc/../x",
  };
  await shelf.put("dotfile-map.json", JSON.stringify(map));
  const failure = await failureOf("invalidDotfileMap", () => shelf.armory.manifest());
  assert.equal(failure.status, 400);
  const [head, ...lines] = failure.message.split("\n");
  assert.equal(head, `invalid ${shelf.directory}/dotfile-map.json:`);
  assert.equal(lines.length, 6);
  assert.ok(lines.every((line) => /^ {2}"[^"]+": \S/.test(line)), failure.message);
  await shelf.put("dotfile-map.json", "{\n  bad");
  const { message } = await failureOf("invalidDotfileMap", () => shelf.armory.manifest());
  assert.match(message, /\n {2}line 2, column 3: is not JSON$/);
  assert.equal((await shelf.armory.file("skills/a")).contents, "x", "files are served still");
});

Deno.test("maps that are no objects, and destinations of every kind", () => {
  for (const text of ["[]", "null", "3", '"x"']) {
    assert.equal(parseDotfileMap(text).ok, false, text);
  }
  assert.deepEqual(parseDotfileMap('{"a/b":"~/.x/y","c":"/etc/c"}'), {
    ok: true,
    map: { "a/b": "~/.x/y", c: "/etc/c" },
  });
  for (const bad of ["", "~", "~/", "/", "x", "~/a//b", "~/a/./b", "~/a\n", "~/a\\b"]) {
    assert.equal(parseDotfileMap(JSON.stringify({ a: bad })).ok, false, bad);
  }
});

Deno.test("files: text as utf8, with byte order mark, other bytes as base64", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/text", "\ufeffgrüße\u0000");
  await shelf.put("skills/bytes", new Uint8Array([0xff, 0xfe, 0]), 0o755);
  const text = await shelf.armory.file("skills/text");
  assert.equal(text.encoding, "utf8");
  assert.equal(text.contents, "\ufeffgrüße\u0000");
  const bytes = await shelf.armory.file("skills/bytes");
  assert.deepEqual([bytes.encoding, bytes.contents, bytes.size], ["base64", "//4A", 3]);
  const { entries } = await shelf.armory.manifest();
  for (const file of [text, bytes]) {
    const { encoding: _encoding, contents: _contents, ...entry } = file;
    assert.deepEqual(entry, entries.find(({ path }) => path === file.path));
  }
});

Deno.test("an unsafe path is refused [unsafeArmoryPath]", async () => {
  await using shelf = await Shelf.make();
  await shelf.put("skills/a", "x");
  await Deno.writeTextFile(join(shelf.root, "secret"), "secret");
  const unsafe = ["/etc/passwd", "../secret", "skills/../../secret", "skills//a", "skills/./a"];
  for (const path of [...unsafe, "", "skills\\a", "skills/a\u0000", "skills/a/", "\ud800"]) {
    const failure = await failureOf("unsafeArmoryPath", () => shelf.armory.file(path));
    assert.equal(failure.status, 400, path);
  }
});

Deno.test("what is not listed is not found [armoryFileNotFound]", async () => {
  await using shelf = await Shelf.make();
  await failureOf("armoryFileNotFound", () => shelf.armory.file("skills/a"));
  await shelf.put("skills/a/x", "x");
  await shelf.put("skills/.git/config", "x");
  await shelf.put("dotfile-map.json", "{}");
  await Deno.writeTextFile(join(shelf.root, "secret"), "secret");
  await Deno.symlink(join(shelf.root, "secret"), shelf.at("skills/link"));
  await Deno.symlink(shelf.root, shelf.at("skills/up"));
  const paths = ["skills", "skills/a", "skills/a/x/y", "skills/.git/config", "dotfile-map.json"];
  for (const path of [...paths, "skills/link", "skills/up/secret", "other/x"]) {
    const { status, message } = await failureOf(
      "armoryFileNotFound",
      () => shelf.armory.file(path),
    );
    assert.equal(status, 404);
    assert.equal(message, `armory file not found: ${path}`);
  }
});

Deno.test("an oversized file is listed and not served [armoryFileTooLarge]", async () => {
  await using shelf = await Shelf.make();
  const bytes = new Uint8Array(limits.armoryFileBytesMax + 1).fill(120);
  await shelf.put("skills/fits", bytes.subarray(1));
  await shelf.put("skills/large", bytes);
  const { entries } = await shelf.armory.manifest();
  assert.deepEqual(entries.map(({ size }) => size), [10485760, 10485761]);
  assert.equal((await shelf.armory.file("skills/fits")).size, 10485760);
  const failure = await failureOf("armoryFileTooLarge", () => shelf.armory.file("skills/large"));
  assert.equal(failure.status, 413);
  assert.equal(
    failure.message,
    "armory file too large (10485761 bytes, limit 10485760): skills/large",
  );
});

Deno.test("an armory without bounds is refused [armoryTooManyFiles]", async () => {
  await using shelf = await Shelf.make();
  await Deno.mkdir(shelf.at("skills"), { recursive: true });
  for (let index = 0; index <= limits.armoryEntriesMax; index += 1) {
    Deno.writeTextFileSync(shelf.at(`skills/${index}`), "");
  }
  await failureOf("armoryTooManyFiles", () => shelf.armory.manifest());
  await Deno.remove(shelf.at("skills/0"));
  assert.equal((await shelf.armory.manifest()).entries.length, limits.armoryEntriesMax);
});

Deno.test("the routes: who may ask, a missing path is a validation error", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  await using shelf = await Shelf.make();
  await shelf.put("skills/a", "x");
  const { shipToken } = await bench.auth.shipCredentials.provision("alpha" as ShipName);
  const { armoryManifest, armoryFile, armoryShips } = bridgeApi;
  const distribution = new ArmoryDistribution({
    armory: shelf.armory,
    fleet: { arrivals: new EventHub(), links: () => [] },
    bridgeUrl: () => "http://localhost:4800",
    clock: systemClock,
    log: silentLog,
  });
  const serve = router({
    table: { armoryManifest, armoryFile, armoryShips },
    gate: bench.auth.gate,
    log: silentLog,
    handlers: armoryHandlers({ armory: shelf.armory, distribution }),
  });
  const ask = async (path: string, token?: string) => {
    const headers = new Headers();
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const request = new Request(`http://localhost:4800${path}`, { headers });
    const response = await serve(request, inProcessConnection(request));
    return { status: response.status, body: await response.json() };
  };
  for (const path of ["/armory", "/armory/file?path=skills/a"]) {
    assert.equal((await ask(path)).status, 401);
    assert.equal((await ask(path, shipToken)).status, 200);
    assert.equal((await ask(path, member)).status, 200);
  }
  assert.equal((await ask("/armory/ships", shipToken)).status, 403);
  assert.deepEqual((await ask("/armory/ships", member)).body, []);
  assert.equal((await ask("/armory/file", member)).status, 422);
  assert.equal((await ask("/armory/file?path=..%2fx", member)).status, 400);
});
