/** How failures look on the wire. */
import type { z } from "zod";
import { Failure, failureBody, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";

/** The 422 of the decisions: the body that zod gives. */
export function validationResponse(error: z.ZodError): Response {
  return Response.json(
    { success: false, error: { name: "ZodError", issues: error.issues } },
    { status: 422 },
  );
}

/** Turns anything thrown into its response; only what is our own mistake is logged, once, here. */
export function failureResponse(thrown: unknown, log: Log, request?: Request): Response {
  if (thrown instanceof Failure) {
    if (thrown.status >= 500 && thrown.cause !== undefined) {
      log.error(thrown.message, { cause: messageOf(thrown.cause) });
    }
    const headers = failureHeaders(thrown);
    return Response.json(failureBody(thrown), { status: thrown.status, headers });
  }
  if (request?.signal.aborted && thrown instanceof DOMException) {
    // The client went away and the work was cancelled; nobody reads this.
    return new Response(null, { status: 499 });
  }
  const stack = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
  log.error("unexpected failure", { stack });
  return Response.json({ error: messageOf(thrown) }, { status: 500 });
}

function failureHeaders(failure: Failure): HeadersInit {
  const headers = new Headers();
  // A 401 passed on, or about the bridge's own token, asks the caller for nothing (RFC 9110, 15.5.2).
  const ours = failure.code !== "relayed" && failure.code !== "providerTokenMissing";
  if (failure.status === 401 && ours) headers.set("www-authenticate", "Bearer");
  if (failure.retryAfterSeconds !== undefined) {
    headers.set("retry-after", String(failure.retryAfterSeconds));
  }
  return headers;
}
