/** What the test forge knows of its one repository. Branches are the bare repository's own. */
import { git } from "../grid_support.ts";

export interface ForgeComment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
}

export interface ForgeIssue {
  readonly number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  labels: string[];
  readonly linked: string[];
  readonly comments: ForgeComment[];
}

export interface ForgePull {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly base: string;
  state: "open" | "closed";
  mergedAt: string | null;
  readonly comments: ForgeComment[];
  readonly reviews: { id: number; author: string; state: string; body: string }[];
  readonly reviewComments: { id: number; path: string; line: number; body: string }[];
}

export interface ForgeCheckRun {
  readonly id: number;
  readonly name: string;
  /** A branch or commit. */
  readonly ref: string;
  readonly app: string;
  status: "queued" | "in_progress" | "completed";
  conclusion: string | null;
  readonly log: string;
}

export interface ForgeStatus {
  readonly id: number;
  readonly ref: string;
  readonly context: string;
  readonly state: "pending" | "success" | "failure" | "error";
}

export const at = "2026-01-02T03:04:05Z";

export class ForgeState {
  readonly issues = new Map<number, ForgeIssue>();
  readonly pulls = new Map<number, ForgePull>();
  readonly checkRuns: ForgeCheckRun[] = [];
  readonly statuses: ForgeStatus[] = [];
  /** The token's permission on the repository. */
  permission: "READ" | "TRIAGE" | "WRITE" | "ADMIN" = "WRITE";
  /** Whether a write is refused although the permission allows it, as to a token without the scope. */
  scopeMissing = false;
  /** What a branch that is asked for is called in the end. */
  rename: (name: string) => string = (name) => name;
  /** Refuses to make branches, with these words. */
  refuseBranches: string | null = null;
  #last = 0;

  constructor(readonly owner: string, readonly name: string, readonly bare: string) {}

  next(): number {
    return ++this.#last;
  }

  openIssue(title: string, more: Partial<ForgeIssue> = {}): ForgeIssue {
    const number = more.number ?? this.next();
    this.#last = Math.max(this.#last, number);
    const issue: ForgeIssue = {
      title,
      body: `about ${title}`,
      state: "open",
      labels: [],
      linked: [],
      comments: [],
      ...more,
      number,
    };
    this.issues.set(number, issue);
    return issue;
  }

  openPull(head: string, more: Partial<ForgePull> = {}): ForgePull {
    const number = this.next();
    const pull: ForgePull = {
      title: `merge ${head}`,
      body: "please",
      head,
      base: "main",
      state: "open",
      mergedAt: null,
      comments: [],
      reviews: [],
      reviewComments: [],
      ...more,
      number,
    };
    this.pulls.set(number, pull);
    return pull;
  }

  close(pull: ForgePull, merged: boolean): void {
    pull.state = "closed";
    pull.mergedAt = merged ? at : null;
  }

  /** The commit that a branch, tag or commit names, or null. */
  async commit(ref: string): Promise<string | null> {
    const sha = await git(this.bare, "rev-parse", "--verify", "-q", `${ref}^{commit}`)
      .catch(() => "");
    return sha === "" ? null : sha.trim();
  }

  /** Branches whose name begins with `prefix`, with their commits. */
  async branches(prefix: string): Promise<{ ref: string; sha: string }[]> {
    const text = await git(this.bare, "for-each-ref", "--format=%(refname) %(objectname)");
    return text.split("\n").filter((line) => line.startsWith(`refs/${prefix}`)).map((line) => {
      const [ref = "", sha = ""] = line.split(" ");
      return { ref, sha };
    });
  }

  async createBranch(name: string, oid: string): Promise<boolean> {
    if (await this.commit(`refs/heads/${name}`) !== null) return false;
    await git(this.bare, "update-ref", `refs/heads/${name}`, oid);
    return true;
  }
}
