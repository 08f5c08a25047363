/** The states of a workspace and what leads from one to the other (interface, "States"). Pure. */
import { fail, type Failure } from "../../shared/errors.ts";
import type { WorkspaceId } from "../../shared/ids.ts";

export type WorkspaceState = "absent" | "inactive" | "active";
export type Trigger = "create" | "activate" | "deactivate" | "switch" | "remove";

export type Transition =
  | { readonly ok: true; readonly to: WorkspaceState }
  | { readonly ok: false; readonly failure: (id: WorkspaceId) => Failure };

const to = (state: WorkspaceState): Transition => ({ ok: true, to: state });
const missing: Transition = { ok: false, failure: (id) => fail("workspaceNotFound", id) };

const table: Readonly<Record<WorkspaceState, Readonly<Record<Trigger, Transition>>>> = {
  absent: {
    create: to("inactive"),
    activate: missing,
    deactivate: missing,
    switch: missing,
    remove: missing,
  },
  inactive: {
    create: { ok: false, failure: (id) => fail("workspaceExists", id) },
    activate: to("active"),
    deactivate: { ok: false, failure: (id) => fail("workspaceNotActive", id) },
    switch: to("inactive"),
    remove: to("absent"),
  },
  active: {
    create: { ok: false, failure: (id) => fail("workspaceExists", id) },
    activate: { ok: false, failure: (id) => fail("workspaceAlreadyActive", id) },
    deactivate: to("inactive"),
    switch: to("active"),
    remove: to("absent"),
  },
};

/** Where `trigger` leads from `state`, or the failure that says why it leads nowhere. */
export function transition(state: WorkspaceState, trigger: Trigger): Transition {
  return table[state][trigger];
}

/** Throws the table's failure when `trigger` is not possible in `state`. */
export function requireTransition(state: WorkspaceState, trigger: Trigger, id: WorkspaceId): void {
  const result = transition(state, trigger);
  if (!result.ok) throw result.failure(id);
}
