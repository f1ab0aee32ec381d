/**
 * What answers: a script, which needs no key. For a model of OpenAI, run `npm install openai` and export
 * `openai('gpt-5-mini', new OpenAI())`, with `openai` of `agentwire/models`.
 */
export { offline as model } from '../offline.ts'
