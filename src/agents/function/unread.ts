import { AgentInputError } from '../errors.ts'

const GENERATORS: ReadonlySet<string> = new Set(['[object Generator]', '[object AsyncGenerator]'])

/** Throws if a function returned a generator, whose body would never run. */
export function checkReturned(what: string, returned: unknown): void {
  if (GENERATORS.has(Object.prototype.toString.call(returned)))
    throw new AgentInputError(
      `${what} returned a generator. Nothing reads what it yields: use an async function, and message(text) or output(text) of its context.`,
    )
}
