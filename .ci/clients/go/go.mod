module github.com/parlance-llm/parlance/ci/clients/go

go 1.24
