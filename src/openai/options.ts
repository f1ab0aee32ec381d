import type { OptionTable } from '../options.ts'

export interface OpenAiOptions {
  /** Such as `/api`, for `/api/v1/…`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether an answer is cancelled when the client that asked for it leaves before its end, as at OpenAI. Answers in the background go on
   * all the same. Default: true.
   */
  readonly cancelOnLeave?: boolean | undefined
  /** The name of the function that a client is told to call where an agent asks something. Default: `interrupt`. */
  readonly questionTool?: string | undefined
  /**
   * What of the body of a request goes into the `config.configurable` of its run, such as `({ temperature }) => ({ temperature })`.
   * Default: nothing.
   */
  readonly configurable?:
    | ((body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined
}

export const OPENAI_OPTIONS: OptionTable<OpenAiOptions> = {
  basePath: 'string',
  cancelOnLeave: 'boolean',
  questionTool: 'string',
  configurable: 'function',
}
