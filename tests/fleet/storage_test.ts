import assert from "node:assert/strict";
import { join } from "node:path";
import { faultPlace } from "../../shared/host/json_file.ts";
import { FleetRig } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { ShipDouble } from "../support/ship_double.ts";

Deno.test("storage: roster and repos survive a restart, and ships connect again", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  const first = await FleetRig.start();
  await first.register(ship);
  await first.repo("r", "https://example.org/r.git");
  await first.stop();
  await using again = await FleetRig.start({ directory: first.directory });
  await again.becomes(ship, "online");
  assert.deepEqual((await again.ask("GET", "/repos")).body, [
    { name: "r", url: "https://example.org/r.git", provider: "custom" },
  ]);
  await until("its workspaces are known", () => again.fleet.ownership.list().length === 1);
  const { mode } = await Deno.stat(join(first.directory, "ships.json"));
  assert.equal((mode ?? 0) & 0o777, 0o600);
});

const unfit = [
  { file: "ships.json", text: '{"version": 1,\n "ships": [canary}', place: /line 2, column 12/ },
  { file: "ships.json", text: "", place: /line 1, column 1/ },
  { file: "ships.json", text: "[]", place: /must be a JSON object/ },
  { file: "ships.json", text: '{"version": 2, "ships": []}', place: /version: is not 1/ },
  { file: "ships.json", text: '{"version": 1}', place: /: ships: / },
  {
    file: "ships.json",
    text: '{"version": 1, "ships": [{"name": "a/b", "url": "http://h"}]}',
    place: /ships\.0\.name: must not contain path separators/,
  },
  {
    file: "ships.json",
    text:
      '{"version": 1, "ships": [{"name": "a", "url": "http://h"}, {"name": "a", "url": "http://i"}]}',
    place: /ships\.1\.name: stands there twice/,
  },
  {
    file: "repos.json",
    text: '{"version": 1, "repos": [{"name": "r", "url": "ext::sh", "provider": "custom"}]}',
    place: /repos\.0\.url: /,
  },
  { file: "repos.json", text: '{"version": 1, "repos": {}}', place: /: repos: / },
];

for (const { file, text, place } of unfit) {
  Deno.test(`storage: ${file} ${JSON.stringify(text.slice(0, 40))} stops the start and stays`, async () => {
    const directory = await Deno.makeTempDir({ prefix: "fleet-" });
    const path = join(directory, file);
    await Deno.writeTextFile(path, text);
    const before = await Deno.stat(path);
    // The rig takes its directory along when it cannot start, so the file is watched through a link.
    const kept = await Deno.makeTempDir({ prefix: "kept-" });
    await Deno.link(path, join(kept, file));
    await assert.rejects(FleetRig.start({ directory }), (thrown: Error) => {
      assert.equal(thrown.name, "StoredFileError");
      assert.ok(thrown.message.includes(path), thrown.message);
      assert.match(thrown.message, place);
      assert.doesNotMatch(thrown.message, /canary/);
      return true;
    });
    assert.equal(await Deno.readTextFile(join(kept, file)), text);
    assert.equal((await Deno.stat(join(kept, file))).mtime?.getTime(), before.mtime?.getTime());
    await Deno.remove(kept, { recursive: true });
  });
}

Deno.test("storage: the place of a fault is where the text stops being JSON", () => {
  assert.equal(faultPlace('{"a": a}'), "line 1, column 7");
  assert.equal(faultPlace('{\n "a": 1,\n}'), "line 3, column 1");
  assert.equal(faultPlace('{"a": 1'), "line 1, column 8");
  assert.equal(faultPlace('{"a": 1} x'), "line 1, column 10");
});

Deno.test("[storageFailed] storage: what cannot be written has not happened, and later writes work", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  await using other = await ShipDouble.start("beta");
  await using rig = await FleetRig.start();
  await rig.register(ship);
  await rig.repo("r");
  const away = `${rig.directory}.away`;
  await Deno.rename(rig.directory, away);

  const failures = [
    await rig.ask("POST", "/ships", { url: other.url, bridgeToken: "b", shipToken: "s" }),
    await rig.ask("DELETE", "/ships/alpha"),
    await rig.ask("POST", "/repos", { name: "q", url: "/q" }),
    await rig.ask("DELETE", "/repos/r"),
  ];
  for (const { status, body } of failures) {
    assert.equal(status, 507);
    assert.match(body.error, /^could not write .*\.json: .*; nothing was changed$/s);
  }
  assert.deepEqual(
    (await rig.ask("GET", "/ships")).body.map(({ name }: { name: string }) => name),
    [
      "alpha",
    ],
  );
  assert.deepEqual((await rig.ask("GET", "/repos")).body.length, 1);
  assert.equal(await rig.credentials.bridgeToken(other.name), null);
  assert.equal((await rig.ask("GET", "/workspaces/r/w")).status, 200);

  await Deno.rename(away, rig.directory);
  await rig.register(other);
  assert.equal((await rig.ask("DELETE", "/ships/alpha")).status, 200);
});

Deno.test("storage: no temporary file is left, whatever the order of changes", async () => {
  await using rig = await FleetRig.start();
  await Promise.all(
    Array.from({ length: 12 }, (_, index) => rig.repo(`r${index}`)),
  );
  const names = (await Array.fromAsync(Deno.readDir(rig.directory))).map(({ name }) => name);
  assert.deepEqual(names, ["repos.json"]);
  const kept = JSON.parse(await Deno.readTextFile(join(rig.directory, "repos.json")));
  assert.equal(kept.version, 1);
  assert.equal(kept.repos.length, 12);
});
