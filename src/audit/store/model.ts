import type { DocIndex, Guard, Json, LeaseRecord, Op } from '../../storage/store/store.ts'

/** A step of a random sequence. It is plain data, so that a failing sequence can be printed and reduced. */
export type Step =
  | {
      readonly step: 'commit'
      readonly partition: number
      readonly guards: readonly ModelGuard[]
      readonly ops: readonly ModelOp[]
    }
  | { readonly step: 'trim'; readonly partition: number; readonly keepLast: number }
  | { readonly step: 'pass'; readonly ms: number }
  | { readonly step: 'sweep' }

export type ModelGuard =
  /** `off` is the distance from the document's current or last version. */
  | { readonly guard: 'version'; readonly collection: number; readonly id: string; readonly off: number }
  | Indexed<Exclude<Guard, { readonly guard: 'version' | 'head' }>>
  | { readonly guard: 'head'; readonly off: number }

/** Collections are numbered: there are two. */
type Indexed<One> = One extends { readonly collection: string }
  ? Omit<One, 'collection'> & { readonly collection: number }
  : One

export type ModelOp =
  | Indexed<Exclude<Op, { readonly op: 'append' }>>
  | { readonly op: 'append'; readonly token: number; readonly texts: readonly string[] }

export interface ModelDoc {
  readonly collection: number
  readonly id: string
  readonly value: Json
  readonly index: DocIndex
  readonly expiresAt: number
}

/** The expected state of a partition, in the simplest form. */
export interface Model {
  readonly docs: readonly ModelDoc[]
  /** Event `i` has the number `i + 1`. Dropped events stay here. */
  readonly events: readonly { readonly text: string; readonly token: number }[]
  readonly firstRetained: number
  readonly token: number
  readonly lease: Omit<LeaseRecord, 'partition'> | undefined
}

export const EMPTY: Model = { docs: [], events: [], firstRetained: 1, token: 0, lease: undefined }

/** The model after a commit, or the errors of which the commit must throw one. */
export function applyCommit(
  model: Model,
  step: Step & { step: 'commit' },
  now: number,
): Model | ReadonlySet<string> {
  const errors = new Set(step.guards.flatMap((guard) => failure(model, guard, now)))
  let next = model
  for (const op of step.ops) {
    const after = applyOp(next, op, now)
    if (typeof after === 'string') errors.add(after)
    else next = after
  }
  return errors.size > 0 ? errors : next
}

export function trimModel(model: Model, keepLast: number): Model {
  return { ...model, firstRetained: Math.max(model.firstRetained, model.events.length - keepLast + 1) }
}

export function findDoc(model: Model, collection: number, id: string, now: number): ModelDoc | undefined {
  return liveDocs(model, collection, now).find((doc) => doc.id === id)
}

export function liveDocs(model: Model, collection: number, now: number): ModelDoc[] {
  return model.docs.filter((doc) => doc.collection === collection && doc.expiresAt > now)
}

function failure(model: Model, guard: ModelGuard, now: number): string[] {
  switch (guard.guard) {
    case 'version':
      return guard.off === 0 && findDoc(model, guard.collection, guard.id, now) ? [] : ['ConflictError']
    case 'absent':
      return findDoc(model, guard.collection, guard.id, now) ? ['ConflictError'] : []
    case 'fence':
      return model.lease?.token === guard.token && model.lease.expiresAt > now ? [] : ['FencedError']
    case 'free':
      return model.lease && model.lease.expiresAt > now ? ['ConflictError'] : []
    case 'head':
      return guard.off === 0 ? [] : ['ConflictError']
  }
}

function applyOp(model: Model, op: ModelOp, now: number): Model | string {
  const others = (collection: number, id: string) =>
    model.docs.filter((doc) => doc.collection !== collection || doc.id !== id)
  switch (op.op) {
    case 'put': {
      const { collection, id, value, index = {}, ttlMs = Number.POSITIVE_INFINITY } = op
      const doc = { collection, id, value, index, expiresAt: now + ttlMs }
      return { ...model, docs: [...others(collection, id), doc] }
    }
    case 'delete':
      return { ...model, docs: others(op.collection, op.id) }
    case 'append':
      return { ...model, events: [...model.events, ...op.texts.map((text) => ({ text, token: op.token }))] }
    case 'claim': {
      if (op.token <= model.token) return 'ConflictError'
      const { owner, token, ttlMs } = op
      return { ...model, token, lease: { owner, token, expiresAt: now + ttlMs } }
    }
    case 'renew':
      if (model.lease?.token !== op.token) return 'FencedError'
      return { ...model, lease: { ...model.lease, expiresAt: now + op.ttlMs } }
    case 'release':
      return model.lease?.token === op.token ? { ...model, lease: undefined } : model
    case 'clear':
      return { ...model, docs: [], firstRetained: model.events.length + 1, lease: undefined }
  }
}
