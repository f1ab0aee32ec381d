import { AgentInputError } from '../errors.ts'

const GENERATORS: ReadonlySet<string> = new Set(['Generator', 'AsyncGenerator'])
const GENERATOR_FUNCTIONS: ReadonlySet<string> = new Set(['GeneratorFunction', 'AsyncGeneratorFunction'])

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1)

export const isGeneratorFunction = (value: unknown): boolean => GENERATOR_FUNCTIONS.has(tagOf(value))

export const ANSWERS =
  'Nothing reads what it yields. Write the answer with the functions of its context, such as message(text) or model(format, stream), in an async function.'

/** Throws if a function returned a generator, whose body would never run. */
export function checkReturned(what: string, returned: unknown): void {
  if (GENERATORS.has(tagOf(returned))) throw new AgentInputError(`${what} returned a generator. ${ANSWERS}`)
}

/** Throws if the function of an agent returned a generator or a stream, whose content would be lost. */
export function checkAnswer(returned: unknown): void {
  checkReturned('run', returned)
  if (Symbol.asyncIterator in Object(returned)) throw new AgentInputError(`run returned a stream. ${ANSWERS}`)
}
