import type { Attributes } from '@opentelemetry/api'
import type { ModelCall } from '../agents/agent.ts'
import type { RunEvent } from '../runs/index.ts'

export type RunEventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>
export type RunEndEvent = RunEventOf<'run.ended'> | RunEventOf<'run.interrupted'>

/** What the semantic conventions call the providers that our formats name otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  amazon_bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
}

/** What spans and metrics both say of a call: nothing that is different for each call. */
export function modelCallAttributes({ provider, model, error }: ModelCall): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    ...(provider !== undefined && { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider }),
    ...(model !== undefined && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(error !== undefined && { 'error.type': errorTypeOf(error) }),
  }
}

/** The class of an error that its text begins with. Any other word of the text could be an id. */
const errorTypeOf = (error: string): string =>
  /^[A-Z]\w*(?:Error|Exception)(?=:)/.exec(error)?.[0] ?? '_OTHER'

export const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1000

/** How a run ended: the status alone does not tell a cancelled run from one that waits for answers. */
export const endingAttributes = (event: RunEndEvent): Attributes => ({
  'agentwire.run.status': event.status,
  'agentwire.run.reason': event.type === 'run.interrupted' ? 'interrupted' : event.reason,
})
