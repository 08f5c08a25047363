/**
 * A new workspace: claimed by `mkdir`, cloned where nobody looks, moved into place in one rename. Whatever
 * fails on the way takes the claim back.
 */
import { fail, Failure, messageOf } from "../../shared/errors.ts";
import { remoteKindOf } from "../../shared/git/refs.ts";
import { type CloneUrl, parseCloneUrl } from "../../shared/git/url.ts";
import { isWithin, statIfPresent } from "../../shared/host/files.ts";
import type { RepoName, WorkspaceId } from "../../shared/ids.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { CloneProgress, ShipCreate } from "../../shared/schema/workspace.ts";
import type { Git } from "../git/git.ts";
import { clonedRef } from "./held_work.ts";
import { collidingEntry, isReserved, type Place, type Places } from "./places.ts";
import { removeIfEmpty, removeTree, type Trash } from "./trash.ts";

/** A create request that is fit to be tried. */
export interface CreateRequest {
  readonly id: WorkspaceId;
  readonly url: CloneUrl;
  readonly branch: string;
}

export interface CreationOptions {
  readonly places: Places;
  readonly git: Git;
  readonly trash: Trash;
}

const localMs = 60_000;

export class Creation {
  /** Claims are taken one after the other, so that two colliding names cannot slip past each other. */
  #claims: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: CreationOptions) {}

  /** Throws `invalid…Identifier`, `invalidCreateRequest`, `emptyBranch`, `branchNotCreated`. */
  async parse(body: ShipCreate): Promise<CreateRequest> {
    const repoName = parseIdentifier("repo", body.repoName);
    const name = parseIdentifier("workspace", body.name);
    for (const part of [repoName, name]) {
      if (isReserved(part)) throw invalid(`the name ${part} is reserved: choose another`);
    }
    const branch = body.branch.trim();
    if (branch === "") throw fail("emptyBranch");
    const parsed = parseCloneUrl(body.url, this.options.git.protocols);
    if (!parsed.ok) throw invalid(parsed.why);
    if (!await this.options.git.isBranchName(branch)) {
      throw fail("branchNotCreated", { branch, reason: "it is not a valid branch name" });
    }
    return { id: { repoName, name }, url: parsed.url, branch };
  }

  /** Makes the workspace, or leaves nothing behind. Throws `workspaceExists`, `cloneFailed` and others. */
  async run(
    request: CreateRequest,
    onProgress?: (progress: CloneProgress) => void,
  ): Promise<Place> {
    const claim = await this.#claim(request.id);
    try {
      return await this.#fill(request, claim.directory, onProgress);
    } catch (thrown) {
      await claim.giveBack().catch((failed) => {
        throw fail("cleanupFailed", { failure: messageOf(thrown), cleanup: messageOf(failed) }, {
          cause: thrown,
        });
      });
      throw asFailure(thrown);
    }
  }

  async #fill(
    { id, url, branch }: CreateRequest,
    destination: string,
    onProgress?: (progress: CloneProgress) => void,
  ): Promise<Place> {
    const { git, trash, places } = this.options;
    const staging = await trash.newPath();
    await using _note = await trash.noteClaim(staging, destination);
    try {
      const remote = await git.lookUp(url, branch);
      const kind = remoteKindOf(remote, branch);
      if (kind === null && !remote.hasHead) throw fail("noRemoteHead", { branch });
      await git.clone({
        url,
        destination: staging,
        branch: kind === null ? null : branch,
        onProgress,
      });
      if (kind === null) await this.#createBranch(staging, branch);
      if (kind === "tag") {
        await git.in(staging).read(["update-ref", clonedRef, "HEAD"], { timeoutMs: localMs });
      }
      await moveInto(staging, destination);
    } catch (thrown) {
      await removeTree(staging);
      throw thrown;
    }
    const place = await places.find(id);
    if (place === null) throw new Error("the clone is not a working tree");
    return place;
  }

  async #createBranch(directory: string, branch: string): Promise<void> {
    const created = await this.options.git.in(directory).call(
      ["switch", "--quiet", "--no-track", "--no-guess", "--create", branch],
      { timeoutMs: localMs },
    );
    if (!created.ok) throw fail("branchNotCreated", { branch, reason: created.reason });
  }

  #claim(id: WorkspaceId): Promise<Claim> {
    const claim = this.#claims.then(() => this.#claimNow(id));
    this.#claims = claim.catch(() => {});
    return claim;
  }

  async #claimNow(id: WorkspaceId): Promise<Claim> {
    const { places } = this.options;
    const repoDirectory = places.repoDirectory(id.repoName);
    await this.#refuseCollision(id);
    const madeRepo = await this.#makeRepoDirectory(id.repoName, repoDirectory);
    const directory = places.directoryOf(id);
    try {
      await requireReal(repoDirectory, places.gridDirectory, id);
      await Deno.mkdir(directory);
    } catch (thrown) {
      if (madeRepo) await removeIfEmpty(repoDirectory);
      if (thrown instanceof Deno.errors.AlreadyExists) throw fail("workspaceExists", id);
      throw thrown;
    }
    return {
      directory,
      giveBack: async () => {
        await removeIfEmpty(directory);
        if (madeRepo) await removeIfEmpty(repoDirectory);
      },
    };
  }

  async #refuseCollision(id: WorkspaceId): Promise<void> {
    const { places } = this.options;
    const repo = await collidingEntry(places.gridDirectory, id.repoName);
    if (repo !== null) throw fail("workspaceNameCollides", { ...id, with: `the repo ${repo}` });
    const directory = places.repoDirectory(id.repoName);
    if (!(await statIfPresent(directory))?.isDirectory) return;
    const name = await collidingEntry(directory, id.name);
    if (name !== null) {
      throw fail("workspaceNameCollides", { ...id, with: `${id.repoName}/${name}` });
    }
  }

  async #makeRepoDirectory(repoName: RepoName, path: string): Promise<boolean> {
    try {
      await Deno.mkdir(path);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
      const info = await statIfPresent(path);
      if (info?.isFile) throw invalid(`a file stands in the way of the repo ${repoName}`);
      return false;
    }
  }
}

/** A destination of ours alone. */
interface Claim {
  readonly directory: string;
  giveBack(): Promise<void>;
}

/** An empty directory is replaced by a rename; a link or anything with contents is not. */
async function moveInto(staging: string, destination: string): Promise<void> {
  if (await Deno.realPath(destination) !== destination) {
    throw new Error(`${destination} was exchanged for a link meanwhile`);
  }
  await Deno.rename(staging, destination);
}

async function requireReal(path: string, gridDirectory: string, id: WorkspaceId): Promise<void> {
  const real = await Deno.realPath(path);
  if (real !== path || !isWithin(gridDirectory, real)) throw fail("escapesGridDirectory", id);
}

const invalid = (why: string) => fail("invalidCreateRequest", { why }, { reason: why });

const asFailure = (thrown: unknown) =>
  thrown instanceof Failure
    ? thrown
    : fail("commandFailed", { what: "creating the workspace", reason: messageOf(thrown) }, {
      cause: thrown,
    });
