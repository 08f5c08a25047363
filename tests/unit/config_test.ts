import assert from "node:assert/strict";
import { readBridgeConfig } from "../../bridge/config.ts";
import { UsageError } from "../../shared/host/flags.ts";
import { readShipConfig } from "../../ship/config.ts";

const secrets = {
  ship: ["GRID_BRIDGE_TOKEN", "GRID_SHIP_TOKEN"],
  bridge: [
    "GRID_BRIDGE_ADMIN_USER",
    "GRID_BRIDGE_ADMIN_EMAIL",
    "GRID_BRIDGE_ADMIN_PASSWORD",
    "GRID_GITHUB_TOKEN",
  ],
} as const;
const shipArguments = ["--grid-directory", "/grid", "--name", "ark", "--state-dir", "/state"];

Deno.test("hardening 10: secrets leave the environment once read, and no child gets them", () => {
  const value = (name: string) => `canary of ${name}`;
  for (const name of [...secrets.ship, ...secrets.bridge]) Deno.env.set(name, value(name));
  const ship = readShipConfig(shipArguments);
  const bridge = readBridgeConfig(["--data-dir", "/data"]);
  assert.deepEqual(
    [ship.bridgeToken, ship.shipToken],
    secrets.ship.map(value),
  );
  assert.deepEqual(
    [bridge.admin.username, bridge.admin.email, bridge.admin.password, bridge.github.token],
    secrets.bridge.map(value),
  );
  const left = Object.keys(Deno.env.toObject());
  for (const name of [...secrets.ship, ...secrets.bridge]) {
    assert.ok(!left.includes(name), `${name} is still in the environment`);
  }
  for (const { environment } of [ship, bridge]) {
    assert.doesNotMatch(JSON.stringify(environment), /canary/);
  }
});

Deno.test("flags win over their environment twins, the last of several counts", () => {
  Deno.env.set("GRID_SHIP_PORT", "1");
  Deno.env.set("GRID_SHIP_HOSTNAME", "::1");
  try {
    const config = readShipConfig([...shipArguments, "--port", "2", "--port", "3"]);
    assert.deepEqual([config.port, config.hostname], [3, "::1"]);
  } finally {
    Deno.env.delete("GRID_SHIP_PORT");
    Deno.env.delete("GRID_SHIP_HOSTNAME");
  }
});

for (
  const [what, read, message] of [
    ["a missing directory", () => readShipConfig(["--name", "ark"]), /--grid-directory is missing/],
    [
      "a port that is none",
      () => readShipConfig([...shipArguments, "--port", "70000"]),
      /--port must be a whole number from 0 to 65535, not "70000"/,
    ],
    [
      "a name that is none",
      () => readShipConfig(["--grid-directory", "/grid", "--name", "a/b"]),
      /--name "a\/b" is no ship name/,
    ],
    [
      "an unknown protocol",
      () => readShipConfig([...shipArguments, "--clone-protocols", "ext"]),
      /"ext" is not one of/,
    ],
    ["an unknown flag", () => readBridgeConfig(["--prot", "1"]), /--prot/],
    [
      "a public URL that is none",
      () => readBridgeConfig(["--data-dir", "/d", "--public-url", "ftp://x"]),
      /--public-url must be an http or https URL/,
    ],
  ] as const
) {
  Deno.test(`${what} is a usage error that says what to do`, () => {
    assert.throws(read, (thrown) => thrown instanceof UsageError && message.test(thrown.message));
  });
}
