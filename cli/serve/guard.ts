import type { Principal } from '../../src/http/index.ts'
import type { Authorize, ThreadAction } from '../../src/requests/access.ts'
import type { AgentEngine, ThreadList, ThreadRecord } from '../../src/runs/index.ts'
import type { Permission, ProjectAuth } from './auth.ts'
import { matches } from './metadata-filter.ts'

export interface Guarded {
  readonly authorize: Authorize
  readonly engine: AgentEngine
}

interface OfPrincipal {
  readonly principal?: Principal | null | undefined
}

interface WithMetadata extends OfPrincipal {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/**
 * An engine as an `Auth` wants it used: `authorize` asks the handlers and compares a thread with the filter that they give. The
 * engine writes the metadata that they have set, and lists the threads that their filter lets through.
 */
export function guard(engine: AgentEngine, auth: ProjectAuth): Guarded {
  // Every request has a principal of its own, and may ask for several things.
  const asked = new WeakMap<Principal, Map<ThreadAction, Permission>>()
  const permission = (principal: Principal | null | undefined, action: ThreadAction) =>
    principal ? asked.get(principal)?.get(action) : undefined
  const marked = <Request extends WithMetadata>(request: Request, action: ThreadAction): Request => {
    const metadata = permission(request.principal, action)?.metadata ?? {}
    if (Object.keys(metadata).length === 0) return request
    return { ...request, metadata: { ...request.metadata, ...metadata } }
  }

  return {
    async authorize(principal, action, resource) {
      if (!principal) return true
      const given = await auth.ask(principal, action, resource)
      asked.set(principal, (asked.get(principal) ?? new Map()).set(action, given))
      const { filter } = given
      const { threadId } = resource
      if (!filter || threadId === undefined) return true
      const thread = await engine.findThread({ threadId, principal })
      return thread === undefined || matches(thread.metadata, filter)
    },
    engine: Object.assign(Object.create(engine) as AgentEngine, {
      start: (request) => engine.start(marked(request, 'runs:create')),
      createThread: (request) => engine.createThread(marked(request, 'threads:create')),
      patchThread: (request) => engine.patchThread(marked(request, 'threads:update')),
      listThreads(query: ThreadList = {}) {
        const filter = permission(query.principal, 'threads:list')?.filter
        return filter
          ? filtered(engine, query, (thread) => matches(thread.metadata, filter))
          : engine.listThreads(query)
      },
      async countThreads(query = {}) {
        const filter = permission(query.principal, 'threads:list')?.filter
        if (!filter) return engine.countThreads(query)
        let count = 0
        for await (const thread of engine.listThreads(query)) if (matches(thread.metadata, filter)) count++
        return count
      },
    } satisfies Partial<AgentEngine>),
  }
}

/** A page of the threads that pass. It looks at each of the owner's threads before them. */
async function* filtered(
  engine: AgentEngine,
  { offset = 0, limit = Number.POSITIVE_INFINITY, ...query }: ThreadList,
  passes: (thread: ThreadRecord) => boolean,
): AsyncGenerator<ThreadRecord> {
  let at = 0
  for await (const thread of engine.listThreads(query)) {
    if (at >= offset + limit) return
    if (passes(thread) && at++ >= offset) yield thread
  }
}
