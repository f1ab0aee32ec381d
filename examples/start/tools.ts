export const multiply = ({ a, b }: { readonly a: number; readonly b: number }): number => a * b

/** Only tells that it would send: put your mail service here. */
export const send_mail = ({ to }: { readonly to: string; readonly text: string }): string => `sent to ${to}`

/** Put your search here. */
export const look_up = ({ topic }: { readonly topic: string }): string => `People drink ${topic} everywhere.`

/** A model would get a description and a schema, too. The script knows tools by their names. */
const declare = (...names: string[]) => names.map((name) => ({ function: { name } }))

export const assistantTools = declare('multiply', 'send_mail', 'task')
export const researcherTools = declare('look_up')
