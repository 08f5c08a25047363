import assert from "node:assert/strict";
import { Ownership } from "../../bridge/fleet/ownership.ts";
import type { ShipName } from "../../shared/ids.ts";
import { row } from "../support/ship_double.ts";

const [alpha, beta, gamma] = ["alpha", "beta", "gamma"] as ShipName[] as [
  ShipName,
  ShipName,
  ShipName,
];

function index(...online: ShipName[]) {
  return new Ownership((ship) => online.includes(ship));
}

Deno.test("ownership: a released workspace goes to online claimants first, then by name", () => {
  const owners = index(alpha, gamma);
  for (const ship of [alpha, beta, gamma]) owners.sync(ship, [row("r/w")]);
  assert.equal(owners.ownerOf(row("r/w")), alpha);
  owners.removeShip(alpha);
  assert.equal(owners.ownerOf(row("r/w")), gamma);
  owners.removeShip(gamma);
  assert.equal(owners.ownerOf(row("r/w")), beta);
  owners.removeShip(beta);
  assert.equal(owners.ownerOf(row("r/w")), null);
  assert.deepEqual(owners.list(), []);
});

Deno.test("ownership: among online claimants the first by name takes over", () => {
  const owners = index(alpha, beta, gamma);
  owners.sync(gamma, [row("r/w")]);
  owners.sync(beta, [row("r/w")]);
  owners.sync(alpha, [row("r/w")]);
  owners.removeShip(gamma);
  assert.equal(owners.ownerOf(row("r/w")), alpha);
});

Deno.test("ownership: who reports second owns nothing, and its removal removes nothing", () => {
  const owners = index(alpha, beta);
  assert.equal(owners.report(alpha, row("r/w", { branch: "mine" })), true);
  assert.equal(owners.report(beta, row("r/w", { branch: "theirs" })), false);
  assert.equal(owners.forget(beta, row("r/w")), false);
  assert.deepEqual(owners.list().map(({ ship, branch }) => [ship, branch]), [[alpha, "mine"]]);
});

Deno.test("ownership: a reserved name goes to no other ship until the reservation ends", () => {
  const owners = index(alpha, beta);
  const reservation = owners.reserve(alpha, row("r/w"));
  assert.equal(owners.report(beta, row("r/w")), false);
  assert.deepEqual(owners.heldElsewhere(beta, [row("r/w")]), ["r/w"]);
  reservation.release();
  assert.equal(owners.ownerOf(row("r/w")), beta);
});

Deno.test("ownership: a kept reservation ends with its ship's next sync, and with no other's", () => {
  const owners = index(alpha, beta);
  owners.reserve(alpha, row("r/w")).keep();
  owners.sync(beta, []);
  assert.throws(() => owners.reserve(beta, row("r/w")), { code: "createIndeterminate" });
  owners.sync(alpha, []);
  owners.reserve(beta, row("r/w")).release();
  owners.reserve(alpha, row("r/x")).keep();
  owners.sync(alpha, [row("r/x")]);
  assert.throws(() => owners.reserve(beta, row("r/x")), { code: "workspaceExists" });
});

Deno.test("ownership: a running create outlives its ship's sync", () => {
  const owners = index(alpha);
  const reservation = owners.reserve(alpha, row("r/w"));
  owners.sync(alpha, []);
  assert.throws(() => owners.reserve(alpha, row("r/w")), { code: "createInProgress" });
  assert.equal(reservation.live, true);
});

Deno.test("ownership: an event beats the list that was under way when it came", () => {
  const owners = index(alpha);
  owners.sync(alpha, [row("r/old"), row("r/gone")]);
  using survey = owners.survey(alpha);
  owners.report(alpha, row("r/new"));
  owners.forget(alpha, row("r/gone"));
  assert.equal(survey.apply([row("r/old", { branch: "b" }), row("r/gone")]), true);
  assert.deepEqual(owners.list().map(({ name, branch }) => [name, branch]), [
    ["new", "main"],
    ["old", "b"],
  ]);
  using same = owners.survey(alpha);
  assert.equal(same.apply([row("r/old", { branch: "b" }), row("r/new")]), false);
});

Deno.test("ownership: a sync voids the list that was under way, and so does the ship's removal", () => {
  const owners = index(alpha);
  using survey = owners.survey(alpha);
  owners.sync(alpha, [row("r/w")]);
  assert.equal(survey.apply([]), false);
  using second = owners.survey(alpha);
  owners.removeShip(alpha);
  assert.equal(second.apply([row("r/w")]), false);
  assert.deepEqual(owners.list(), []);
});

Deno.test("ownership: a create confirmed after its removal was told stays removed", () => {
  const owners = index(alpha);
  const reservation = owners.reserve(alpha, row("r/w"));
  owners.report(alpha, row("r/w"));
  owners.forget(alpha, row("r/w"));
  reservation.confirm(row("r/w"));
  assert.equal(owners.ownerOf(row("r/w")), null);
});
