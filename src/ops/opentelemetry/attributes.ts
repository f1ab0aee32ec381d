import type { Attributes } from '@opentelemetry/api'
import type { ModelCall } from '../../agents/agent.ts'
import type { RunEvent } from '../../engine/index.ts'

export type RunEventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>
export type RunEndEvent = RunEventOf<'run.ended'> | RunEventOf<'run.interrupted'>

/** Provider names in the semantic conventions that differ from ours. */
const PROVIDERS: Readonly<Record<string, string>> = {
  amazon_bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
}

/** The attributes that a call's span and its metrics share. None is different for each call. */
export function modelCallAttributes({ provider, model, error }: ModelCall): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    ...(provider !== undefined && { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider }),
    ...(model !== undefined && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(error !== undefined && { 'error.type': errorTypeOf(error) }),
  }
}

/** The error class at the start of the text. Any other word could be an id. */
const errorTypeOf = (error: string): string =>
  /^[A-Z]\w*(?:Error|Exception)(?=:)/.exec(error)?.[0] ?? '_OTHER'

/** The class of the error that ended a run, or why it ended. */
export const runErrorTypeOf = ({ error, reason }: RunEventOf<'run.ended'>): string =>
  error instanceof Error ? error.name : reason === 'failed' ? '_OTHER' : reason

export const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1000

/** How a run ended. The status alone does not distinguish a cancelled run from an interrupted one. */
export const endingAttributes = (event: RunEndEvent): Attributes => ({
  'agentwire.run.status': event.status,
  'agentwire.run.reason': event.type === 'run.interrupted' ? 'interrupted' : event.reason,
})
