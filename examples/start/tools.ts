export const multiply = ({ a, b }: { readonly a: number; readonly b: number }): number => a * b

/** Only pretends to send. Replace it with your mail service. */
export const send_mail = ({ to }: { readonly to: string; readonly text: string }): string => `sent to ${to}`

/** Replace it with your search. */
export const look_up = ({ topic }: { readonly topic: string }): string => `People drink ${topic} everywhere.`

/** A model would also get a description and a schema. The script knows tools by name. */
const declare = (...names: string[]) => names.map((name) => ({ function: { name } }))

export const assistantTools = declare('multiply', 'send_mail', 'task')
export const researcherTools = declare('look_up')
