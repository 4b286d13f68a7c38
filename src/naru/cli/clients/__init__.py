"""What Naru knows of other products: where their settings are, what stands in them, how to add an entry.

`places` says where, `reading` what is there (`naru import`), `entries` what each needs (`naru connect`), `json_edit`,
`writing` how a file is changed without losing anything of it.
"""
