/**
 * One line to GitHub's API for all repos: octokit, with bounds on time and concurrency, and a hold while
 * GitHub limits requests. Octokit's own throttling plugin is not used: it keeps timers for the whole
 * process that nothing can dispose of, and waits in silence where our callers want to be told when to come
 * again.
 */
import { Octokit } from "@octokit/core";
import type { Clock } from "../../../shared/clock.ts";
import { fail, Failure, relayed } from "../../../shared/errors.ts";
import { Semaphore } from "../../../shared/host/semaphore.ts";
import { displayText } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import { redactUrl } from "../../../shared/log.ts";
import { version } from "../../../shared/version.ts";
import type { Slug } from "./parse.ts";

export interface GitHubConnectionOptions {
  readonly token: string;
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise Server. */
  readonly apiUrl: string;
  readonly clock: Clock;
  readonly callMs?: number;
}

/** A repository and the line to ask about it on. */
export interface GitHubTarget extends Slug {
  /** What the bridge calls the repo, for messages. */
  readonly name: string;
  readonly connection: GitHubConnection;
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Changes something: never repeated, and one at a time, as GitHub asks of its clients. */
  readonly write?: boolean;
}

/** Goes into `request` of every call. */
export interface RequestOptions {
  readonly signal: AbortSignal;
}

const concurrencyMax = 8;
const queueMax = 256;
const writeQueueMax = 64;
/** GitHub's advice when it limits without saying for how long. */
const holdDefaultMs = 60_000;
const holdMaxMs = 60 * 60_000;
const messageCharactersMax = 300;
const repeatAfterMs = 500;

export class GitHubConnection {
  readonly #octokit: Octokit;
  readonly #turns = new Semaphore(concurrencyMax, queueMax);
  readonly #writes = new Semaphore(1, writeQueueMax);
  #heldUntilMs = 0;

  constructor(private readonly options: GitHubConnectionOptions) {
    const quiet = () => {};
    this.#octokit = new Octokit({
      auth: options.token,
      baseUrl: options.apiUrl,
      userAgent: `workspace-grid/${version}`,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
  }

  /**
   * Runs `work`, one request and the reading of its answer. A read that GitHub could not answer (5xx) is
   * repeated once. Throws `relayed` with GitHub's status, `providerRateLimited`, `providerUnreachable`,
   * `providerAnswerInvalid`, `tooBusy`, or the reason of the caller's signal.
   */
  async ask<T>(
    work: (octokit: Octokit, request: RequestOptions) => Promise<T>,
    { signal, write = false }: AskOptions = {},
  ): Promise<T> {
    using _write = write ? await acquire(this.#writes, signal) : null;
    using _turn = await acquire(this.#turns, signal);
    try {
      return await this.#once(work, signal);
    } catch (thrown) {
      const repeat = !write && thrown instanceof Failure && thrown.code === "relayed" &&
        thrown.status >= 500;
      if (!repeat) throw thrown;
      await this.#pause(signal);
      return await this.#once(work, signal);
    }
  }

  async #once<T>(
    work: (octokit: Octokit, request: RequestOptions) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    this.#assertNotHeld();
    const timeout = AbortSignal.timeout(this.options.callMs ?? limits.forgeCallMs);
    const bounded = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      return await work(this.#octokit, { signal: bounded });
    } catch (thrown) {
      if (signal?.aborted) throw signal.reason;
      if (timeout.aborted) {
        throw fail("providerUnreachable", { provider: "github", message: "timed out" });
      }
      throw this.#meaningOf(thrown);
    }
  }

  #assertNotHeld(): void {
    const leftMs = this.#heldUntilMs - this.options.clock.monotonicMs();
    if (leftMs <= 0) return;
    const retryAfterSeconds = Math.ceil(leftMs / 1000);
    throw fail("providerRateLimited", { provider: "github", retryAfterSeconds }, {
      retryAfterSeconds,
    });
  }

  #meaningOf(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    const error = thrown as RequestErrorLike;
    if (error?.name === "GraphqlResponseError") return this.#graphqlMeaning(error);
    if (error?.name !== "HttpError") {
      return fail("providerAnswerInvalid", { provider: "github" }, { cause: thrown });
    }
    const { response } = error;
    if (response === undefined) {
      const message = this.#shown(error.message ?? "connection failed");
      return fail("providerUnreachable", { provider: "github", message });
    }
    const status = error.status ?? 500;
    const holdMs = this.#holdMs(status, response);
    if (holdMs === null) return this.#relayed(status, error.message ?? "");
    return this.#hold(status, error.message ?? "", holdMs);
  }

  /** A GraphQL answer has status 200 whatever is wrong; its errors have types instead. */
  #graphqlMeaning({ errors = [], headers = {} }: RequestErrorLike): Failure {
    const types = errors.map(({ type }) => type ?? "");
    const message = errors.map((one) => one.message ?? "").join("; ");
    if (types.includes("RATE_LIMITED")) {
      return this.#hold(429, message, this.#resetMs(headers) ?? holdDefaultMs);
    }
    if (types.includes("NOT_FOUND")) return this.#relayed(404, message);
    const forbidden = types.some((type) => type === "FORBIDDEN" || type === "INSUFFICIENT_SCOPES");
    return this.#relayed(forbidden ? 403 : 422, message);
  }

  /** How long GitHub wants to be left alone, or null when this is no rate limit. */
  #holdMs(status: number, { headers, data }: ResponseLike): number | null {
    if (status !== 403 && status !== 429) return null;
    const after = Number(headers["retry-after"] ?? "NaN");
    if (Number.isFinite(after)) return after * 1000;
    if (String(headers["x-ratelimit-remaining"]) === "0") {
      return this.#resetMs(headers) ?? holdDefaultMs;
    }
    const message = (data as { message?: unknown } | null)?.message;
    const secondary = typeof message === "string" && /secondary rate limit/i.test(message);
    return secondary || status === 429 ? holdDefaultMs : null;
  }

  #resetMs(headers: Headers): number | null {
    const reset = Number(headers["x-ratelimit-reset"] ?? "NaN");
    if (!Number.isFinite(reset)) return null;
    return Math.max(1_000, reset * 1000 - this.options.clock.now().getTime());
  }

  #hold(status: number, message: string, ms: number): Failure {
    const boundedMs = Math.min(Math.max(ms, 0), holdMaxMs);
    this.#heldUntilMs = Math.max(
      this.#heldUntilMs,
      this.options.clock.monotonicMs() + boundedMs,
    );
    const text = `github: ${this.#shown(message)}`;
    const retryAfterSeconds = Math.ceil(boundedMs / 1000);
    return new Failure("relayed", status, text, undefined, { retryAfterSeconds });
  }

  #relayed(status: number, message: string): Failure {
    // 304 and other surprises are no errors that our caller could make sense of.
    if (status < 400 || status > 599) {
      return new Failure("relayed", status, `github: HTTP ${status}`);
    }
    return relayed(status, `github: ${this.#shown(message)}`);
  }

  /** GitHub's words, fit to be shown. */
  #shown(message: string): string {
    const text = displayText(redactUrl(message.replaceAll(this.options.token, "***")));
    return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax)}…` : text;
  }

  #pause(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.options.clock.after(repeatAfterMs, () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      });
      const leave = () => {
        timer[Symbol.dispose]();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}

type Headers = Readonly<Record<string, string | number | undefined>>;

interface ResponseLike {
  readonly headers: Headers;
  readonly data: unknown;
}

/** What octokit throws: `HttpError` (REST) and `GraphqlResponseError`. */
interface RequestErrorLike {
  readonly name?: string;
  readonly message?: string;
  readonly status?: number;
  readonly response?: ResponseLike;
  readonly errors?: readonly { readonly type?: string; readonly message?: string }[];
  readonly headers?: Headers;
}

async function acquire(turns: Semaphore, signal: AbortSignal | undefined): Promise<Disposable> {
  const turn = await turns.acquire(signal);
  if (turn === null) throw fail("tooBusy", { what: "calls to github" });
  return turn;
}
