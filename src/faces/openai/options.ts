import type { OptionTable } from '../../core/options.ts'
import type { FaceContext } from '../kit/routes.ts'

export interface OpenAiOptions {
  /** The path prefix, such as `/api` for `/api/v1/…`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether an answer is cancelled when its client disconnects before the end, as OpenAI does. Background
   * responses always continue. Default: true.
   */
  readonly cancelOnLeave?: boolean | undefined
  /**
   * The name of the function call that a client receives when an agent asks a question. Default: `interrupt`.
   */
  readonly questionTool?: string | undefined
  /**
   * Maps a request body to the `config.configurable` of its run, such as
   * `({ temperature }) => ({ temperature })`. Default: nothing.
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

/** The context of every endpoint of this face. */
export interface OpenAiContext extends FaceContext {
  readonly options: OpenAiOptions
}
