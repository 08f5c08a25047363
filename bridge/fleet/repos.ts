/** The registered repos, kept in `repos.json`. Ships know nothing of them. */
import { join } from "node:path";
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import { type CloneUrl, parseCloneUrl } from "../../shared/git/url.ts";
import { JsonFile, StoredFileError } from "../../shared/host/json_file.ts";
import { Semaphore } from "../../shared/host/semaphore.ts";
import type { RepoName } from "../../shared/ids.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import { type CreateRepo, type Repo, repoSchema } from "../../shared/schema/repo.ts";

const customProvider = "custom";
const providerCharactersMax = 64;
const queueMax = 64;

/** Memory changes only once the file has. */
export class Repos {
  readonly #path: string;
  readonly #file;
  readonly #turn = new Semaphore(1, queueMax);
  #repos: readonly Repo[] = [];

  constructor(dataDirectory: string) {
    this.#path = join(dataDirectory, "repos.json");
    this.#file = new JsonFile({
      path: this.#path,
      version: 1,
      key: "repos",
      schema: z.array(repoSchema),
    });
  }

  /** Reads the file. Throws `StoredFileError`. */
  async start(): Promise<void> {
    const repos = await this.#file.read() ?? [];
    repos.forEach((repo, index) => {
      const place = `repos.${index}`;
      if (repos.findIndex(({ name }) => name === repo.name) !== index) {
        throw new StoredFileError(this.#path, `${place}.name`, "stands there twice");
      }
      const parsed = parseCloneUrl(repo.url);
      if (!parsed.ok) throw new StoredFileError(this.#path, `${place}.url`, parsed.why);
    });
    this.#repos = sorted(repos);
  }

  /** By name, with their URLs as registered: for the bridge's own use. */
  get all(): readonly Repo[] {
    return this.#repos;
  }

  /** The repo as registered, or null. */
  find(name: RepoName): Repo | null {
    return this.#repos.find((repo) => repo.name === name) ?? null;
  }

  /** The repo as registered. Throws `repoNotFound`. */
  get(name: RepoName): Repo {
    const repo = this.find(name);
    if (repo === null) throw fail("repoNotFound", { name });
    return repo;
  }

  /**
   * Registers a repo. Throws `invalidRepoIdentifier`, `invalidRepo` (with the rule broken as its reason),
   * `repoAlreadyRegistered`, `storageFailed`.
   */
  async create({ name, url, provider }: CreateRepo): Promise<Repo> {
    const repo = { name: parseIdentifier("repo", name), url, provider: parseProvider(provider) };
    const parsed = parseCloneUrl(url);
    if (!parsed.ok) throw fail("invalidRepo", undefined, { reason: parsed.why });
    using _turn = await this.#acquire();
    if (this.find(repo.name) !== null) throw fail("repoAlreadyRegistered", { name });
    await this.#replace([...this.#repos, repo]);
    return repo;
  }

  /** Forgets a repo. Throws `repoNotFound`, `storageFailed`. */
  async remove(name: RepoName): Promise<void> {
    using _turn = await this.#acquire();
    this.get(name);
    await this.#replace(this.#repos.filter((repo) => repo.name !== name));
  }

  async #acquire(): Promise<Disposable> {
    const turn = await this.#turn.acquire();
    if (turn === null) throw fail("tooBusy", { what: "changes of the repos" });
    return turn;
  }

  async #replace(repos: readonly Repo[]): Promise<void> {
    const next = sorted(repos);
    await this.#file.write([...next]);
    this.#repos = next;
  }
}

/** The repo as it is shown: an http(s) URL without its credential and query (hardening 9). */
export function shownRepo(repo: Repo): Repo {
  return { ...repo, url: cloneUrlOf(repo).shown };
}

/** The repo's URL, read. Every registered URL has passed the policy. */
export function cloneUrlOf(repo: Repo): CloneUrl {
  const parsed = parseCloneUrl(repo.url);
  if (!parsed.ok) throw new Error(`repo ${repo.name} was registered with a bad URL`);
  return parsed.url;
}

function parseProvider(given: string | undefined): string {
  const provider = given?.trim() ?? customProvider;
  if (
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(provider) && provider.length <= providerCharactersMax
  ) {
    return provider;
  }
  throw fail("invalidRepo", undefined, { reason: "provider must be a short name such as github" });
}

function sorted(repos: readonly Repo[]): readonly Repo[] {
  return repos.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
