import { AgentwireError } from '../../errors.ts'
import { derivedId } from './ids.ts'
import type { SavedInterrupt } from './journal.ts'
import { own } from './state.ts'

/** Thrown by `interrupt` where no answer is there yet. It ends the attempt; the function runs again with the answer. */
export class Suspended extends AgentwireError {
  static override readonly brand = 'Suspended'
  constructor() {
    super('suspended', 'The agent waits for an answer. Let this pass: do not catch it.')
  }
}

/** Whether an error is, or was caused by, a wait for an answer. */
export function isSuspended(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Suspended) return true
  return false
}

export interface Interrupts {
  /** The answer, if there is one; else the question is raised. */
  ask(question: Omit<SavedInterrupt, 'id' | 'order'>): { readonly answer: unknown } | undefined
  /** Those raised in this attempt. */
  pending(): readonly SavedInterrupt[]
}

export function createInterrupts(seed: string, answers: Readonly<Record<string, unknown>>): Interrupts {
  const raised: SavedInterrupt[] = []
  return {
    ask(question) {
      const { path, value } = question
      if (Object.hasOwn(answers, path)) return { answer: answers[path] }
      raised.push({ ...question, id: derivedId(seed, path), value: own(value), order: raised.length })
      return undefined
    },
    pending: () => raised,
  }
}

/** A rejection that nobody has to wait for: it is kept account of elsewhere. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
